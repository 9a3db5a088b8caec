-- Written by `python -m orchestrator.store.statements` out of statements.py.

-- schema attributes
CREATE TABLE attributes (
	run BIGINT NOT NULL,
	name TEXT NOT NULL,
	is_map SMALLINT NOT NULL,
	"key" TEXT NOT NULL,
	value BLOB NOT NULL
)

-- schema attributes_identity
CREATE UNIQUE INDEX attributes_identity ON attributes (run, name, "key")

-- schema definitions
CREATE TABLE definitions (
	hash TEXT NOT NULL,
	flow TEXT NOT NULL,
	path TEXT NOT NULL,
	text TEXT NOT NULL,
	stored_at BIGINT NOT NULL,
	PRIMARY KEY (hash)
)

-- schema history
CREATE TABLE history (
	run BIGINT NOT NULL,
	version INTEGER NOT NULL,
	at BIGINT NOT NULL,
	kind TEXT NOT NULL,
	execution_id TEXT,
	body BLOB NOT NULL,
	event BLOB
)

-- schema history_identity
CREATE UNIQUE INDEX history_identity ON history (run, version)

-- schema marks
CREATE TABLE marks (
	name TEXT NOT NULL,
	value BIGINT NOT NULL
)

-- schema marks_identity
CREATE UNIQUE INDEX marks_identity ON marks (name)

-- schema messages
CREATE TABLE messages (
	run BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	channel TEXT NOT NULL,
	"key" TEXT,
	value BLOB NOT NULL
)

-- schema messages_identity
CREATE UNIQUE INDEX messages_identity ON messages (run, seq)

-- schema outputs
CREATE TABLE outputs (
	run BIGINT NOT NULL,
	position INTEGER NOT NULL,
	body BLOB NOT NULL
)

-- schema outputs_identity
CREATE UNIQUE INDEX outputs_identity ON outputs (run, position)

-- schema pauses
CREATE TABLE pauses (
	flow TEXT NOT NULL,
	step TEXT NOT NULL,
	paused_at BIGINT NOT NULL
)

-- schema pauses_identity
CREATE UNIQUE INDEX pauses_identity ON pauses (flow, step)

-- schema projections
CREATE TABLE projections (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	sender BIGINT NOT NULL,
	flow_id TEXT NOT NULL,
	definition TEXT NOT NULL,
	body BLOB NOT NULL,
	worker BIGINT
)

-- schema projections_claimed
CREATE INDEX projections_claimed ON projections (worker) WHERE worker IS NOT NULL

-- schema queues
CREATE TABLE queues (
	queue INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	name TEXT NOT NULL,
	settings TEXT NOT NULL,
	spent_until BIGINT NOT NULL
)

-- schema queues_identity
CREATE UNIQUE INDEX queues_identity ON queues (name)

-- schema reports
CREATE TABLE reports (
	run BIGINT NOT NULL,
	round TEXT NOT NULL,
	position INTEGER NOT NULL,
	branch INTEGER NOT NULL,
	value BLOB NOT NULL
)

-- schema reports_identity
CREATE UNIQUE INDEX reports_identity ON reports (run, round, position)

-- schema rounds
CREATE TABLE rounds (
	run BIGINT NOT NULL,
	round TEXT NOT NULL,
	"join" TEXT NOT NULL,
	branch_count INTEGER NOT NULL,
	counting INTEGER NOT NULL,
	missed INTEGER NOT NULL,
	members INTEGER NOT NULL,
	is_cancelled SMALLINT NOT NULL
)

-- schema rounds_identity
CREATE UNIQUE INDEX rounds_identity ON rounds (run, round)

-- schema runs
CREATE TABLE runs (
	run INTEGER NOT NULL,
	flow_id TEXT NOT NULL,
	is_latest SMALLINT NOT NULL,
	run_id TEXT NOT NULL,
	flow TEXT NOT NULL,
	definition TEXT NOT NULL,
	request_id TEXT,
	status TEXT NOT NULL,
	version INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	started_at BIGINT NOT NULL,
	closed_at BIGINT,
	input BLOB NOT NULL,
	state BLOB NOT NULL,
	error BLOB,
	PRIMARY KEY (run)
)

-- schema runs_by_flow
CREATE INDEX runs_by_flow ON runs (flow, started_at, run)

-- schema runs_by_status
CREATE INDEX runs_by_status ON runs (status, started_at, run)

-- schema runs_closed
CREATE INDEX runs_closed ON runs (closed_at) WHERE closed_at IS NOT NULL

-- schema runs_latest
CREATE UNIQUE INDEX runs_latest ON runs (flow_id) WHERE is_latest = 1

-- schema runs_newest
CREATE INDEX runs_newest ON runs (started_at, run) WHERE is_latest = 1

-- schema schema_version
CREATE TABLE schema_version (
	version INTEGER NOT NULL,
	installed_at BIGINT NOT NULL,
	PRIMARY KEY (version)
)

-- schema steps
CREATE TABLE steps (
	run BIGINT NOT NULL,
	execution_id TEXT NOT NULL,
	step TEXT NOT NULL,
	phase TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	due_at BIGINT,
	worker BIGINT,
	is_lost SMALLINT NOT NULL,
	body BLOB NOT NULL,
	queue INTEGER DEFAULT 0 NOT NULL,
	turn BIGINT
)

-- schema steps_claimable
CREATE INDEX steps_claimable ON steps (queue, due_at) WHERE worker IS NULL AND turn IS NULL AND due_at IS NOT NULL

-- schema steps_identity
CREATE UNIQUE INDEX steps_identity ON steps (run, execution_id)

-- schema steps_in_queues
CREATE INDEX steps_in_queues ON steps (queue) WHERE worker IS NOT NULL AND queue > 0

-- schema steps_in_turn
CREATE INDEX steps_in_turn ON steps (queue, turn) WHERE worker IS NULL AND turn IS NOT NULL

-- schema workers
CREATE TABLE workers (
	worker INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	alive_until BIGINT NOT NULL,
	host TEXT NOT NULL,
	pid INTEGER NOT NULL,
	process_started TEXT NOT NULL,
	serves TEXT DEFAULT '' NOT NULL
)

-- statement insert_run(run, flow_id, is_latest, run_id, flow, definition, request_id, status, version, attempt, started_at, closed_at, input, state, error)
INSERT INTO runs (run, flow_id, is_latest, run_id, flow, definition, request_id, status, version, attempt, started_at, closed_at, input, state, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- statement update_run(version, state, of_run, from_version)
UPDATE runs SET version=?, state=? WHERE runs.run = ? AND runs.version = ?

-- statement close_run(status, version, attempt, closed_at, state, error, of_run, from_version)
UPDATE runs SET status=?, version=?, attempt=?, closed_at=?, state=?, error=? WHERE runs.run = ? AND runs.version = ?

-- statement set_definition(definition, of_run)
UPDATE runs SET definition=? WHERE runs.run = ?

-- statement supersede_run(of_run)
UPDATE runs SET is_latest=0 WHERE runs.run = ?

-- statement insert_step(run, execution_id, step, phase, attempt, due_at, worker, body)
INSERT INTO steps (run, execution_id, step, phase, attempt, due_at, worker, is_lost, body) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)

-- statement update_step(phase, attempt, due_at, worker, body, of_run, of_execution)
UPDATE steps SET phase=?, attempt=?, due_at=?, worker=?, is_lost=0, body=?, queue=0, turn=NULL WHERE steps.run = ? AND steps.execution_id = ?

-- statement insert_queued_step(run, execution_id, step, phase, attempt, due_at, worker, body, queue, turn)
INSERT INTO steps (run, execution_id, step, phase, attempt, due_at, worker, is_lost, body, queue, turn) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)

-- statement update_queued_step(phase, attempt, due_at, worker, body, queue, turn, of_run, of_execution)
UPDATE steps SET phase=?, attempt=?, due_at=?, worker=?, is_lost=0, body=?, queue=?, turn=? WHERE steps.run = ? AND steps.execution_id = ?

-- statement delete_step(of_run, of_execution)
DELETE FROM steps WHERE steps.run = ? AND steps.execution_id = ?

-- statement delete_steps(of_run)
DELETE FROM steps WHERE steps.run = ?

-- statement insert_message(run, seq, channel, key, value)
INSERT INTO messages (run, seq, channel, "key", value) VALUES (?, ?, ?, ?, ?)

-- statement clear_messages(of_run)
DELETE FROM messages WHERE messages.run = ?

-- statement delete_message(of_run, of_seq)
DELETE FROM messages WHERE messages.run = ? AND messages.seq = ?

-- statement set_attribute(run, name, is_map, key, value)
INSERT INTO attributes (run, name, is_map, "key", value) VALUES (?, ?, ?, ?, ?) ON CONFLICT (run, name, "key") DO UPDATE SET value = excluded.value

-- statement clear_attributes(of_run)
DELETE FROM attributes WHERE attributes.run = ?

-- statement clear_attribute(of_run, of_name)
DELETE FROM attributes WHERE attributes.run = ? AND attributes.name = ?

-- statement delete_attribute(of_run, of_name, of_key)
DELETE FROM attributes WHERE attributes.run = ? AND attributes.name = ? AND attributes."key" = ?

-- statement insert_output(run, position, body)
INSERT INTO outputs (run, position, body) VALUES (?, ?, ?)

-- statement delete_outputs(of_run)
DELETE FROM outputs WHERE outputs.run = ?

-- statement insert_round(run, round, join, branch_count, counting, missed, members, is_cancelled)
INSERT INTO rounds (run, round, "join", branch_count, counting, missed, members, is_cancelled) VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- statement update_round(counting, missed, members, is_cancelled, of_run, of_round)
UPDATE rounds SET counting=?, missed=?, members=?, is_cancelled=? WHERE rounds.run = ? AND rounds.round = ?

-- statement delete_round(of_run, of_round)
DELETE FROM rounds WHERE rounds.run = ? AND rounds.round = ?

-- statement delete_rounds(of_run)
DELETE FROM rounds WHERE rounds.run = ?

-- statement insert_report(run, round, position, branch, value)
INSERT INTO reports (run, round, position, branch, value) VALUES (?, ?, ?, ?, ?)

-- statement delete_reports(of_run, of_round)
DELETE FROM reports WHERE reports.run = ? AND reports.round = ?

-- statement delete_all_reports(of_run)
DELETE FROM reports WHERE reports.run = ?

-- statement insert_projection(sender, flow_id, definition, body)
INSERT INTO projections (sender, flow_id, definition, body) VALUES (?, ?, ?, ?)

-- statement insert_history(run, version, at, kind, execution_id, body, event)
INSERT INTO history (run, version, at, kind, execution_id, body, event) VALUES (?, ?, ?, ?, ?, ?, ?)

-- statement claim_due(claimer, of_queue, now, limit)
UPDATE steps SET worker=?, turn=NULL WHERE rowid IN (SELECT steps.rowid
FROM steps
WHERE steps.queue = ? AND steps.worker IS NULL AND steps.turn IS NULL AND steps.due_at IS NOT NULL AND steps.due_at <= ? ORDER BY steps.due_at
 LIMIT ? OFFSET 0) RETURNING run, execution_id, is_lost

-- statement claim_due_except(claimer, of_queue, now, definitions, limit)
UPDATE steps SET worker=?, turn=NULL WHERE rowid IN (SELECT steps.rowid
FROM steps
WHERE steps.queue = ? AND steps.worker IS NULL AND steps.turn IS NULL AND steps.due_at IS NOT NULL AND steps.due_at <= ? AND (SELECT 1
FROM runs, json_each(?) AS anon_1
WHERE runs.run = steps.run AND (runs.definition = anon_1.value OR anon_1.value = (runs.definition || '/' || steps.step))
 LIMIT 1 OFFSET 0) IS NULL AND (SELECT 1
FROM runs, pauses
WHERE runs.run = steps.run AND pauses.flow = runs.flow AND (pauses.step = '' OR pauses.step = steps.step)
 LIMIT 1 OFFSET 0) IS NULL ORDER BY steps.due_at
 LIMIT ? OFFSET 0) RETURNING run, execution_id, is_lost

-- statement claim_timers(claimer, of_queue, now, limit)
UPDATE steps SET worker=?, turn=NULL WHERE rowid IN (SELECT steps.rowid
FROM steps
WHERE steps.queue = ? AND steps.worker IS NULL AND steps.turn IS NULL AND steps.due_at IS NOT NULL AND steps.due_at <= ? AND steps.phase = 'waiting' AND (SELECT 1
FROM runs, pauses
WHERE runs.run = steps.run AND pauses.flow = runs.flow AND (pauses.step = '' OR pauses.step = steps.step)
 LIMIT 1 OFFSET 0) IS NULL ORDER BY steps.due_at
 LIMIT ? OFFSET 0) RETURNING run, execution_id, is_lost

-- statement claim_in_turn(claimer, of_queue, limit)
UPDATE steps SET worker=?, turn=NULL WHERE rowid IN (SELECT steps.rowid
FROM steps
WHERE steps.queue = ? AND steps.worker IS NULL AND steps.turn IS NOT NULL ORDER BY steps.turn
 LIMIT ? OFFSET 0) RETURNING run, execution_id, is_lost

-- statement claim_in_turn_except(claimer, of_queue, definitions, limit)
UPDATE steps SET worker=?, turn=NULL WHERE rowid IN (SELECT steps.rowid
FROM steps
WHERE steps.queue = ? AND steps.worker IS NULL AND steps.turn IS NOT NULL AND (SELECT 1
FROM runs, json_each(?) AS anon_1
WHERE runs.run = steps.run AND (runs.definition = anon_1.value OR anon_1.value = (runs.definition || '/' || steps.step))
 LIMIT 1 OFFSET 0) IS NULL AND (SELECT 1
FROM runs, pauses
WHERE runs.run = steps.run AND pauses.flow = runs.flow AND (pauses.step = '' OR pauses.step = steps.step)
 LIMIT 1 OFFSET 0) IS NULL ORDER BY steps.turn
 LIMIT ? OFFSET 0) RETURNING run, execution_id, is_lost

-- statement next_due_at(of_queue, of_queue)
SELECT min(either.due_at) AS min_1
FROM (SELECT min(steps.due_at) AS due_at
FROM steps
WHERE steps.queue = ? AND steps.worker IS NULL AND steps.turn IS NULL AND steps.due_at IS NOT NULL UNION ALL SELECT first.due_at AS due_at
FROM (SELECT steps.due_at AS due_at
FROM steps
WHERE steps.queue = ? AND steps.worker IS NULL AND steps.turn IS NOT NULL ORDER BY steps.turn
 LIMIT 1 OFFSET 0) AS first) AS either

-- statement next_due_at_except(of_queue, definitions, of_queue, definitions)
SELECT min(either.due_at) AS min_1
FROM (SELECT min(steps.due_at) AS due_at
FROM steps
WHERE steps.queue = ? AND steps.worker IS NULL AND steps.turn IS NULL AND steps.due_at IS NOT NULL AND (SELECT 1
FROM runs, json_each(?) AS anon_1
WHERE runs.run = steps.run AND (runs.definition = anon_1.value OR anon_1.value = (runs.definition || '/' || steps.step))
 LIMIT 1 OFFSET 0) IS NULL AND (SELECT 1
FROM runs, pauses
WHERE runs.run = steps.run AND pauses.flow = runs.flow AND (pauses.step = '' OR pauses.step = steps.step)
 LIMIT 1 OFFSET 0) IS NULL UNION ALL SELECT first.due_at AS due_at
FROM (SELECT steps.due_at AS due_at
FROM steps
WHERE steps.queue = ? AND steps.worker IS NULL AND steps.turn IS NOT NULL AND (SELECT 1
FROM runs, json_each(?) AS anon_1
WHERE runs.run = steps.run AND (runs.definition = anon_1.value OR anon_1.value = (runs.definition || '/' || steps.step))
 LIMIT 1 OFFSET 0) IS NULL AND (SELECT 1
FROM runs, pauses
WHERE runs.run = steps.run AND pauses.flow = runs.flow AND (pauses.step = '' OR pauses.step = steps.step)
 LIMIT 1 OFFSET 0) IS NULL ORDER BY steps.turn
 LIMIT 1 OFFSET 0) AS first) AS either

-- statement next_timer_at(of_queue)
SELECT min(steps.due_at) AS min_1
FROM steps
WHERE steps.queue = ? AND steps.worker IS NULL AND steps.turn IS NULL AND steps.due_at IS NOT NULL AND steps.phase = 'waiting' AND (SELECT 1
FROM runs, pauses
WHERE runs.run = steps.run AND pauses.flow = runs.flow AND (pauses.step = '' OR pauses.step = steps.step)
 LIMIT 1 OFFSET 0) IS NULL

-- statement oldest_due_at()
SELECT min(either.due_at) AS min_1
FROM (SELECT (SELECT min(steps.due_at) AS min_2
FROM steps
WHERE steps.queue = known.queue AND steps.worker IS NULL AND steps.turn IS NULL AND steps.due_at IS NOT NULL) AS due_at
FROM (SELECT 0 AS queue UNION ALL SELECT queues.queue AS queue
FROM queues) AS known UNION ALL SELECT (SELECT steps.due_at
FROM steps
WHERE steps.queue = known.queue AND steps.worker IS NULL AND steps.turn IS NOT NULL ORDER BY steps.turn
 LIMIT 1 OFFSET 0) AS due_at
FROM (SELECT 0 AS queue UNION ALL SELECT queues.queue AS queue
FROM queues) AS known) AS either

-- statement next_turn(of_queue)
SELECT coalesce(min(steps.turn) + 1, 0) AS coalesce_1
FROM steps
WHERE steps.queue = ? AND steps.worker IS NULL AND steps.turn IS NOT NULL

-- statement busy(definitions, until)
SELECT EXISTS (SELECT *
FROM steps
WHERE (SELECT 1
FROM runs, json_each(?) AS anon_2
WHERE runs.run = steps.run AND (runs.definition = anon_2.value OR anon_2.value = (runs.definition || '/' || steps.step))
 LIMIT 1 OFFSET 0) IS NULL AND steps.due_at IS NOT NULL AND (steps.worker IS NOT NULL OR (SELECT 1
FROM runs, pauses
WHERE runs.run = steps.run AND pauses.flow = runs.flow AND (pauses.step = '' OR pauses.step = steps.step)
 LIMIT 1 OFFSET 0) IS NULL AND (steps.due_at <= ? OR steps.attempt > 1 AND steps.phase != 'waiting'))) AS anon_1

-- statement busy_in_queue(of_queue, until)
SELECT EXISTS (SELECT *
FROM steps
WHERE steps.queue = ? AND steps.due_at IS NOT NULL AND (steps.worker IS NOT NULL OR (SELECT 1
FROM runs, pauses
WHERE runs.run = steps.run AND pauses.flow = runs.flow AND (pauses.step = '' OR pauses.step = steps.step)
 LIMIT 1 OFFSET 0) IS NULL AND (steps.due_at <= ? OR steps.attempt > 1 AND steps.phase != 'waiting'))) AS anon_1

-- statement all_queues()
SELECT queues.queue, queues.name, queues.settings
FROM queues ORDER BY queues.queue

-- statement insert_queue(name, settings)
INSERT INTO queues (name, settings, spent_until) VALUES (?, ?, 0)

-- statement set_queue(settings, the_queue)
UPDATE queues SET settings=? WHERE queues.queue = ?

-- statement delete_queue(the_queue)
DELETE FROM queues WHERE queues.queue = ?

-- statement ready_queues(queues, now)
SELECT anon_1.value
FROM json_each(?) AS anon_1
WHERE (SELECT 1
FROM steps
WHERE steps.queue = anon_1.value AND steps.worker IS NULL AND steps.turn IS NOT NULL ORDER BY steps.turn
 LIMIT 1 OFFSET 0) IS NOT NULL OR (SELECT 1
FROM steps
WHERE steps.queue = anon_1.value AND steps.worker IS NULL AND steps.turn IS NULL AND steps.due_at IS NOT NULL AND steps.due_at <= ? ORDER BY steps.due_at
 LIMIT 1 OFFSET 0) IS NOT NULL

-- statement spent_of_queues(queues)
SELECT queues.queue, queues.spent_until
FROM queues
WHERE queues.queue IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)

-- statement spend(spent_until, the_queue)
UPDATE queues SET spent_until=? WHERE queues.queue = ?

-- statement leased_counts(queues)
SELECT steps.queue, count(*) AS count_1
FROM steps
WHERE steps.worker IS NOT NULL AND steps.queue > 0 AND steps.queue IN (SELECT anon_1.value
FROM json_each(?) AS anon_1) GROUP BY steps.queue

-- statement calls()
SELECT steps.run, steps.execution_id, runs.flow, steps.step, steps.queue
FROM steps JOIN runs ON runs.run = steps.run
WHERE steps.phase != 'waiting' ORDER BY steps.run

-- statement set_step_queue(queue, of_run, of_execution)
UPDATE steps SET queue=?, turn=NULL WHERE steps.run = ? AND steps.execution_id = ?

-- statement release(of_run, of_execution, holder)
UPDATE steps SET worker=NULL WHERE steps.run = ? AND steps.execution_id = ? AND steps.worker = ?

-- statement release_lost(holder)
UPDATE steps SET worker=NULL, is_lost=1 WHERE steps.worker = ?

-- statement leases(of_run, executions)
SELECT steps.execution_id, steps.worker
FROM steps
WHERE steps.run = ? AND steps.execution_id IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)

-- statement insert_worker(alive_until, host, pid, process_started, serves)
INSERT INTO workers (alive_until, host, pid, process_started, serves) VALUES (?, ?, ?, ?, ?)

-- statement renew_worker(alive_until, of_worker)
UPDATE workers SET alive_until=? WHERE workers.worker = ?

-- statement delete_worker(of_worker)
DELETE FROM workers WHERE workers.worker = ?

-- statement all_workers()
SELECT workers.worker, workers.alive_until, workers.host, workers.pid, workers.process_started, workers.serves
FROM workers

-- statement last_run()
SELECT max(coalesce((SELECT max(runs.run) AS max_2
FROM runs), 0), coalesce((SELECT marks.value
FROM marks
WHERE marks.name = 'pruned_run'), 0)) AS max_1

-- statement find_latest(of_flow_id)
SELECT runs.run, runs.flow_id, runs.run_id, runs.flow, runs.definition, runs.request_id, runs.status, runs.version, runs.attempt, runs.started_at, runs.closed_at
FROM runs
WHERE runs.flow_id = ? AND runs.is_latest = 1

-- statement find_run(of_run)
SELECT runs.run, runs.flow_id, runs.run_id, runs.flow, runs.definition, runs.request_id, runs.status, runs.version, runs.attempt, runs.started_at, runs.closed_at
FROM runs
WHERE runs.run = ?

-- statement versions(runs)
SELECT runs.run, runs.version, runs.is_latest
FROM runs
WHERE runs.run IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)

-- statement rounds_of(of_run)
SELECT rounds.round, rounds."join", rounds.branch_count, rounds.counting, rounds.missed, rounds.members, rounds.is_cancelled
FROM rounds
WHERE rounds.run = ? ORDER BY rowid

-- statement rows_of_run(run_0, run_1, run_2, run_3, run_4, run_5)
SELECT 0, runs.run, CAST(NULL AS TEXT) AS anon_1, CAST(NULL AS TEXT) AS anon__1, CAST(NULL AS BIGINT) AS anon__2, runs.input, runs.state, runs.error
FROM runs
WHERE runs.run = ? UNION ALL SELECT 1, rowid, steps.execution_id, NULL AS anon_1, steps.worker, steps.body, NULL AS anon__3, NULL AS anon__4
FROM steps
WHERE steps.run = ? UNION ALL SELECT 2, messages.seq, messages.channel, messages."key", NULL AS anon_1, messages.value, NULL AS anon__3, NULL AS anon__4
FROM messages
WHERE messages.run = ? UNION ALL SELECT 3, rowid, attributes.name, attributes."key", attributes.is_map, attributes.value, NULL AS anon_1, NULL AS anon__3
FROM attributes
WHERE attributes.run = ? UNION ALL SELECT 4, rowid, NULL AS anon_1, NULL AS anon__3, NULL AS anon__4, NULL AS anon__5, NULL AS anon__6, NULL AS anon__7
FROM rounds
WHERE rounds.run = ? UNION ALL SELECT 5, outputs.position, NULL AS anon_1, NULL AS anon__3, NULL AS anon__4, outputs.body, NULL AS anon__5, NULL AS anon__6
FROM outputs
WHERE outputs.run = ?

-- statement reports_of(of_run)
SELECT reports.round, reports.branch, reports.value
FROM reports
WHERE reports.run = ? ORDER BY reports.round, reports.position

-- statement history_of(of_run, after_version)
SELECT history.version, history.at, history.kind, history.execution_id, history.body, history.event
FROM history
WHERE history.run = ? AND history.version > ? ORDER BY history.version

-- statement live_of_definition(of_definition, after_run, limit)
SELECT runs.run, runs.flow_id, runs.run_id, runs.flow, runs.definition, runs.request_id, runs.status, runs.version, runs.attempt, runs.started_at, runs.closed_at
FROM runs
WHERE runs.definition = ? AND runs.status = 'RUNNING' AND runs.run > ? ORDER BY runs.run
 LIMIT ? OFFSET 0

-- statement claim_projections(claimer, claimer, limit)
UPDATE projections SET worker=? WHERE projections.seq IN (SELECT projections.seq
FROM projections
WHERE NOT (EXISTS (SELECT *
FROM projections
WHERE projections.worker != ?)) ORDER BY projections.seq
 LIMIT ? OFFSET 0) RETURNING seq, sender, flow_id, definition, body

-- statement delete_projection(of_seq)
DELETE FROM projections WHERE projections.seq = ?

-- statement release_projections(holder)
UPDATE projections SET worker=NULL WHERE projections.worker = ?

-- statement has_projections()
SELECT EXISTS (SELECT *
FROM projections
WHERE projections.seq > 0) AS anon_1

-- statement has_projections_of(of_run)
SELECT EXISTS (SELECT *
FROM projections
WHERE projections.sender = ?) AS anon_1

-- statement insert_definition(hash, flow, path, text, stored_at)
INSERT INTO definitions (hash, flow, path, text, stored_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET stored_at = excluded.stored_at

-- statement definition_names()
SELECT definitions.flow, definitions.hash
FROM definitions ORDER BY definitions.stored_at, rowid

-- statement definition(of_hash)
SELECT definitions.path, definitions.text
FROM definitions
WHERE definitions.hash = ?

-- statement all_pauses()
SELECT pauses.flow, pauses.step
FROM pauses

-- statement insert_pause(flow, step, paused_at)
INSERT INTO pauses (flow, step, paused_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING

-- statement delete_pause(of_flow, of_step)
DELETE FROM pauses WHERE pauses.flow = ? AND pauses.step = ?

-- statement prunable_runs(before, limit)
SELECT runs.run
FROM runs
WHERE runs.closed_at < ? ORDER BY runs.closed_at
 LIMIT ? OFFSET 0

-- statement prunable_count(before)
SELECT count(*) AS count_1
FROM runs
WHERE runs.closed_at < ?

-- statement mark(name, value)
INSERT INTO marks (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(marks.value, excluded.value)

-- statement unmark(of_name)
DELETE FROM marks WHERE marks.name = ?

-- statement runs_with_objects_left()
SELECT marks.value
FROM marks
WHERE substr(marks.name, 1, 8) = 'objects:' ORDER BY marks.value

-- statement delete_unused_definitions()
DELETE FROM definitions WHERE (EXISTS (SELECT *
FROM definitions AS successor
WHERE successor.flow = definitions.flow AND successor.stored_at > definitions.stored_at)) AND NOT (EXISTS (SELECT *
FROM runs
WHERE runs.flow = definitions.flow AND runs.definition = definitions.hash)) AND (definitions.hash NOT IN (SELECT projections.definition
FROM projections)) RETURNING hash

-- statement run_counts()
SELECT runs.status, count(*) AS count_1
FROM runs GROUP BY runs.status ORDER BY runs.status

-- statement oldest_runs()
SELECT (SELECT min(runs.started_at) AS min_1
FROM runs
WHERE runs.status = 'RUNNING') AS anon_1, (SELECT min(runs.closed_at) AS min_2
FROM runs
WHERE runs.closed_at IS NOT NULL) AS anon_2

-- statement work_counts(now)
SELECT steps.queue, count(CASE WHEN (steps.worker IS NOT NULL) THEN 1 END) AS count_1, count(CASE WHEN (steps.worker IS NULL AND steps.due_at <= ?) THEN 1 END) AS count_2
FROM steps GROUP BY steps.queue

-- statement row_counts()
SELECT 'definitions', count(*) AS count_1
FROM definitions UNION ALL SELECT 'history', count(*) AS count_2
FROM history UNION ALL SELECT 'messages', count(*) AS count_3
FROM messages UNION ALL SELECT 'steps', count(*) AS count_4
FROM steps

-- statement runs_of(of_flow_id)
SELECT runs.run
FROM runs
WHERE runs.flow_id = ? ORDER BY runs.run

-- statement all_runs()
SELECT runs.run
FROM runs ORDER BY runs.run

-- statement all_definitions()
SELECT definitions.hash, definitions.flow, definitions.path, definitions.text, definitions.stored_at
FROM definitions ORDER BY definitions.stored_at

-- statement insert_schema_version(version, installed_at)
INSERT INTO schema_version (version, installed_at) VALUES (?, ?)

-- statement installed_version()
SELECT max(schema_version.version) AS max_1
FROM schema_version

-- statement heads(before_time, before_run, since, value, value, limit)
SELECT runs.run, runs.flow_id, runs.run_id, runs.flow, runs.definition, runs.request_id, runs.status, runs.version, runs.attempt, runs.started_at, runs.closed_at
FROM runs
WHERE runs.is_latest = 1 AND (runs.started_at, runs.run) < (?, ?) AND runs.started_at >= ? AND (? IS NULL OR (EXISTS (SELECT *
FROM attributes
WHERE attributes.run = runs.run AND (attributes.value = ? OR substr(attributes.value, 1, 1) = X'C1')))) ORDER BY runs.started_at DESC, runs.run DESC
 LIMIT ? OFFSET 0

-- statement heads_of_flow(of_flow, before_time, before_run, since, value, value, limit)
SELECT runs.run, runs.flow_id, runs.run_id, runs.flow, runs.definition, runs.request_id, runs.status, runs.version, runs.attempt, runs.started_at, runs.closed_at
FROM runs
WHERE runs.flow = ? AND runs.is_latest = 1 AND (runs.started_at, runs.run) < (?, ?) AND runs.started_at >= ? AND (? IS NULL OR (EXISTS (SELECT *
FROM attributes
WHERE attributes.run = runs.run AND (attributes.value = ? OR substr(attributes.value, 1, 1) = X'C1')))) ORDER BY runs.started_at DESC, runs.run DESC
 LIMIT ? OFFSET 0

-- statement heads_of_status(of_status, before_time, before_run, since, value, value, limit)
SELECT runs.run, runs.flow_id, runs.run_id, runs.flow, runs.definition, runs.request_id, runs.status, runs.version, runs.attempt, runs.started_at, runs.closed_at
FROM runs
WHERE runs.status = ? AND runs.is_latest = 1 AND (runs.started_at, runs.run) < (?, ?) AND runs.started_at >= ? AND (? IS NULL OR (EXISTS (SELECT *
FROM attributes
WHERE attributes.run = runs.run AND (attributes.value = ? OR substr(attributes.value, 1, 1) = X'C1')))) ORDER BY runs.started_at DESC, runs.run DESC
 LIMIT ? OFFSET 0

-- statement attribute_values(runs)
SELECT attributes.run, attributes.name, attributes.is_map, attributes.value
FROM attributes
WHERE attributes.run IN (SELECT anon_1.value
FROM json_each(?) AS anon_1) ORDER BY attributes.run, rowid

-- statement running_among(runs)
SELECT runs.run
FROM runs
WHERE runs.run IN (SELECT anon_1.value
FROM json_each(?) AS anon_1) AND runs.closed_at IS NULL

-- statement active_steps(runs)
SELECT DISTINCT steps.run, steps.step
FROM steps
WHERE steps.run IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)

-- statement prune_attributes(runs)
DELETE FROM attributes WHERE attributes.run IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)

-- statement export_attributes(of_run)
SELECT attributes.name, attributes.is_map, attributes."key", attributes.value
FROM attributes
WHERE attributes.run = ? ORDER BY rowid

-- statement import_attributes(run, name, is_map, key, value)
INSERT INTO attributes (run, name, is_map, "key", value) VALUES (?, ?, ?, ?, ?)

-- statement prune_history(runs)
DELETE FROM history WHERE history.run IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)

-- statement export_history(of_run)
SELECT history.version, history.at, history.kind, history.execution_id, history.body, history.event
FROM history
WHERE history.run = ? ORDER BY rowid

-- statement import_history(run, version, at, kind, execution_id, body, event)
INSERT INTO history (run, version, at, kind, execution_id, body, event) VALUES (?, ?, ?, ?, ?, ?, ?)

-- statement prune_messages(runs)
DELETE FROM messages WHERE messages.run IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)

-- statement export_messages(of_run)
SELECT messages.seq, messages.channel, messages."key", messages.value
FROM messages
WHERE messages.run = ? ORDER BY rowid

-- statement import_messages(run, seq, channel, key, value)
INSERT INTO messages (run, seq, channel, "key", value) VALUES (?, ?, ?, ?, ?)

-- statement prune_outputs(runs)
DELETE FROM outputs WHERE outputs.run IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)

-- statement export_outputs(of_run)
SELECT outputs.position, outputs.body
FROM outputs
WHERE outputs.run = ? ORDER BY rowid

-- statement import_outputs(run, position, body)
INSERT INTO outputs (run, position, body) VALUES (?, ?, ?)

-- statement prune_reports(runs)
DELETE FROM reports WHERE reports.run IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)

-- statement export_reports(of_run)
SELECT reports.round, reports.position, reports.branch, reports.value
FROM reports
WHERE reports.run = ? ORDER BY rowid

-- statement import_reports(run, round, position, branch, value)
INSERT INTO reports (run, round, position, branch, value) VALUES (?, ?, ?, ?, ?)

-- statement prune_rounds(runs)
DELETE FROM rounds WHERE rounds.run IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)

-- statement export_rounds(of_run)
SELECT rounds.round, rounds."join", rounds.branch_count, rounds.counting, rounds.missed, rounds.members, rounds.is_cancelled
FROM rounds
WHERE rounds.run = ? ORDER BY rowid

-- statement import_rounds(run, round, join, branch_count, counting, missed, members, is_cancelled)
INSERT INTO rounds (run, round, "join", branch_count, counting, missed, members, is_cancelled) VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- statement prune_runs(runs)
DELETE FROM runs WHERE runs.run IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)

-- statement export_runs(of_run)
SELECT runs.flow_id, runs.is_latest, runs.run_id, runs.flow, runs.definition, runs.request_id, runs.status, runs.version, runs.attempt, runs.started_at, runs.closed_at, runs.input, runs.state, runs.error
FROM runs
WHERE runs.run = ? ORDER BY rowid

-- statement import_runs(run, flow_id, is_latest, run_id, flow, definition, request_id, status, version, attempt, started_at, closed_at, input, state, error)
INSERT INTO runs (run, flow_id, is_latest, run_id, flow, definition, request_id, status, version, attempt, started_at, closed_at, input, state, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- statement prune_steps(runs)
DELETE FROM steps WHERE steps.run IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)

-- statement export_steps(of_run)
SELECT steps.execution_id, steps.step, steps.phase, steps.attempt, steps.due_at, steps.worker, steps.is_lost, steps.body, steps.queue, steps.turn
FROM steps
WHERE steps.run = ? ORDER BY rowid

-- statement import_steps(run, execution_id, step, phase, attempt, due_at, worker, is_lost, body, queue, turn)
INSERT INTO steps (run, execution_id, step, phase, attempt, due_at, worker, is_lost, body, queue, turn) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
