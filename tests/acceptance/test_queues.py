"""`queues`: set, list, remove, apply."""

from tests.acceptance.command import Place


def test_a_queue_is_set_changed_and_shown(place: Place) -> None:
    limits = ("--concurrency", "4", "--rate", "100/1m", "--burst", "10")
    made = place.type("queues", "set", "greetings", "--route", "Hello/Greet", *limits, "-o", "json")
    assert made.json() == {
        "name": "greetings",
        "routes": ["Hello/Greet"],
        "concurrency": 4,
        "rate": "100/1m",
        "burst": 10,
        "priority": "normal",
        "within": None,
        "leased": 0,
        "due": 0,
    }
    change = ("--rate", "none", "--concurrency", "0", "--priority", "low")
    assert place.type("queues", "set", "greetings", *change).code == 0
    place.type("start", "Hello", "--id", "hello", "--input", '"Ada"')
    assert place.type("queues", "list").stdout.splitlines()[1].split() == [
        *("greetings", "Hello/Greet", "0", "-", "low", "-", "0", "1")
    ]
    why = place.type("explain", "hello").stdout
    assert "the queue greetings is full: 0 of 0 run" in why
    assert "orchestrator queues set greetings --concurrency N" in why
    assert place.type("queues", "remove", "greetings").code == 0
    assert place.type("worker", "--until-idle").code == 0
    assert place.type("describe", "hello", "-o", "json").json()["status"] == "COMPLETED"


def test_a_file_says_which_queues_there_are(place: Place) -> None:
    place.type("queues", "set", "old", "--route", "Hello")
    place.write(
        "queues.toml",
        """
        [all]
        routes = ["*"]
        concurrency = 8
        [mail]
        routes = ["Mail/Send"]
        rate = "5/s"
        priority = "high"
        within = "all"
        """,
    )
    queues = place.type("queues", "apply", "queues.toml", "-o", "json").json()
    assert [(each["name"], each["rate"], each["within"]) for each in queues] == [
        ("all", None, None),
        ("mail", "5/1s", "all"),
    ]
    place.write("wrong.toml", "[all]\nspeed = 3\n")
    refused = place.type("queues", "apply", "wrong.toml")
    assert (refused.code, "has no `speed`" in refused.stderr) == (2, True)


def test_what_cannot_be_a_queue_is_refused(place: Place) -> None:
    assert place.type("queues", "list").code == 4
    for options in (
        ["--rate", "fast"],
        ["--concurrency", "many"],
        ["--priority", "urgent"],
        ["--burst", "3"],
    ):
        assert place.type("queues", "set", "q", *options).code == 2
    assert place.type("queues", "remove", "q").code == 4
