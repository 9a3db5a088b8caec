from orchestrator.engine.pace import MAXIMUM_ROOM, Pace


def test_little_is_leased_before_anything_is_known() -> None:
    assert Pace(8).room() == 16


def test_much_is_leased_when_it_is_done_in_an_instant() -> None:
    pace = Pace(8)
    pace.note("quick", 0.00001)
    assert pace.room() == MAXIMUM_ROOM


def test_slow_handlers_leave_work_to_other_workers() -> None:
    pace = Pace(8)
    pace.note("slow", 5.0)
    assert pace.room() == 8


def test_threads_that_begin_nothing_are_slow_until_they_are_quick_again() -> None:
    pace = Pace(8)
    pace.note("quick", 0.00001)
    pace.note_standstill(2.0)
    assert pace.room() == 8
    for _ in range(500):
        pace.note("quick", 0.00001)
    assert pace.room() == MAXIMUM_ROOM


def test_what_one_call_waits_for_the_interpreter_does_not_change_the_room() -> None:
    """Among threads that compute, the same call takes one or ten milliseconds, as it comes."""
    pace, rooms = Pace(8), []
    for number in range(2000):
        pace.note("computes", 0.010 if number % 8 < 3 else 0.005)
        rooms.append(pace.room())
    settled = rooms[1000:]
    assert max(settled) - min(settled) < 0.1 * max(settled) < 0.1 * MAXIMUM_ROOM


def test_one_slow_call_is_noticed_after_many_quick_ones() -> None:
    pace = Pace(8)
    for _ in range(1000):
        pace.note("mixed", 0.00001)
    assert pace.is_quick("mixed")
    pace.note("mixed", 1.0)
    assert not pace.is_quick("mixed")
    assert pace.room() <= 24


def test_less_is_held_where_urgent_work_would_have_to_wait_for_it() -> None:
    pace = Pace(8)
    for _ in range(100):
        pace.note("some", 0.01)
    room = pace.room()
    pace.note_priorities(True)
    assert (room, pace.room()) == (16 + 160, 16 + 40)
    pace.note_priorities(False)
    assert pace.room() == room


def test_an_unknown_handler_is_not_quick() -> None:
    assert not Pace(1).is_quick("never called")


def placed(pace: Pace, held_count: int, ended_count: int) -> int:
    """How many calls a batch places that has ended so many, if there are always more."""
    return next(count for count in range(1000) if pace.is_full("some", held_count, count, ended_count))


def test_what_follows_takes_the_places_of_what_has_ended_except_for_a_few() -> None:
    pace = Pace(8)
    room = pace.room()
    assert placed(pace, room, 16) == 15
    assert placed(pace, room - 1, 16) == 16


def test_it_does_so_when_there_is_less_room_than_there_was() -> None:
    pace = Pace(8)
    assert placed(pace, 100 + pace.room(), 16) == 15


def test_where_calls_end_one_at_a_time_and_there_is_no_room_others_may_go_on() -> None:
    pace = Pace(8)
    assert placed(pace, pace.room(), 1) == 0


def test_what_is_done_in_an_instant_comes_by_the_thousand() -> None:
    pace = Pace(8)
    pace.note("instant", 0.00001)
    assert pace.room_for("instant") > 10 * pace.room()
    assert pace.room_for("never called") == pace.room() == MAXIMUM_ROOM
    pace.note_standstill(1.5)
    assert pace.room_for("instant") == pace.room() == 8
