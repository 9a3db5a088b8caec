-- Written by `python -m orchestrator.store.postgres_statements` from that module.

-- schema run_numbers
CREATE SEQUENCE orchestrator.run_numbers

-- schema attributes
CREATE TABLE orchestrator.attributes (
	run BIGINT NOT NULL,
	name TEXT NOT NULL,
	is_map SMALLINT NOT NULL,
	key TEXT NOT NULL,
	value BYTEA NOT NULL,
	rowid BIGINT GENERATED ALWAYS AS IDENTITY
)

-- schema attributes_identity
CREATE UNIQUE INDEX attributes_identity ON orchestrator.attributes (run, name, key)

-- schema definitions
CREATE TABLE orchestrator.definitions (
	hash TEXT NOT NULL,
	flow TEXT NOT NULL,
	path TEXT NOT NULL,
	text TEXT NOT NULL,
	stored_at BIGINT NOT NULL,
	rowid BIGINT GENERATED ALWAYS AS IDENTITY,
	PRIMARY KEY (hash)
)

-- schema history
CREATE TABLE orchestrator.history (
	run BIGINT NOT NULL,
	version INTEGER NOT NULL,
	at BIGINT NOT NULL,
	kind TEXT NOT NULL,
	execution_id TEXT,
	body BYTEA NOT NULL,
	event BYTEA
)

-- schema history_identity
CREATE UNIQUE INDEX history_identity ON orchestrator.history (run, version)

-- schema marks
CREATE TABLE orchestrator.marks (
	name TEXT NOT NULL,
	value BIGINT NOT NULL
)

-- schema marks_identity
CREATE UNIQUE INDEX marks_identity ON orchestrator.marks (name)

-- schema messages
CREATE TABLE orchestrator.messages (
	run BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	channel TEXT NOT NULL,
	key TEXT,
	value BYTEA NOT NULL
)

-- schema messages_identity
CREATE UNIQUE INDEX messages_identity ON orchestrator.messages (run, seq)

-- schema outputs
CREATE TABLE orchestrator.outputs (
	run BIGINT NOT NULL,
	position INTEGER NOT NULL,
	body BYTEA NOT NULL
)

-- schema outputs_identity
CREATE UNIQUE INDEX outputs_identity ON orchestrator.outputs (run, position)

-- schema pauses
CREATE TABLE orchestrator.pauses (
	flow TEXT NOT NULL,
	step TEXT NOT NULL,
	paused_at BIGINT NOT NULL
)

-- schema pauses_identity
CREATE UNIQUE INDEX pauses_identity ON orchestrator.pauses (flow, step)

-- schema projections
CREATE TABLE orchestrator.projections (
	seq BIGINT GENERATED ALWAYS AS IDENTITY,
	sender BIGINT NOT NULL,
	flow_id TEXT NOT NULL,
	definition TEXT NOT NULL,
	body BYTEA NOT NULL,
	worker BIGINT,
	PRIMARY KEY (seq)
)

-- schema projections_claimed
CREATE INDEX projections_claimed ON orchestrator.projections (worker) WHERE worker IS NOT NULL

-- schema queues
CREATE TABLE orchestrator.queues (
	queue BIGINT GENERATED ALWAYS AS IDENTITY,
	name TEXT NOT NULL,
	settings TEXT NOT NULL,
	spent_until BIGINT NOT NULL,
	PRIMARY KEY (queue)
)

-- schema queues_identity
CREATE UNIQUE INDEX queues_identity ON orchestrator.queues (name)

-- schema reports
CREATE TABLE orchestrator.reports (
	run BIGINT NOT NULL,
	round TEXT NOT NULL,
	position INTEGER NOT NULL,
	branch INTEGER NOT NULL,
	value BYTEA NOT NULL
)

-- schema reports_identity
CREATE UNIQUE INDEX reports_identity ON orchestrator.reports (run, round, position)

-- schema rounds
CREATE TABLE orchestrator.rounds (
	run BIGINT NOT NULL,
	round TEXT NOT NULL,
	"join" TEXT NOT NULL,
	branch_count INTEGER NOT NULL,
	counting INTEGER NOT NULL,
	missed INTEGER NOT NULL,
	members INTEGER NOT NULL,
	is_cancelled SMALLINT NOT NULL,
	rowid BIGINT GENERATED ALWAYS AS IDENTITY
)

-- schema rounds_identity
CREATE UNIQUE INDEX rounds_identity ON orchestrator.rounds (run, round)

-- schema runs
CREATE TABLE orchestrator.runs (
	run BIGINT NOT NULL,
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
	input BYTEA NOT NULL,
	state BYTEA NOT NULL,
	error BYTEA,
	PRIMARY KEY (run)
)
 WITH (fillfactor = 70)

-- schema runs_newest
CREATE INDEX runs_newest ON orchestrator.runs (started_at, run) WHERE is_latest = 1

-- schema runs_latest
CREATE UNIQUE INDEX runs_latest ON orchestrator.runs (flow_id) WHERE is_latest = 1

-- schema runs_closed
CREATE INDEX runs_closed ON orchestrator.runs (closed_at) WHERE closed_at IS NOT NULL

-- schema runs_by_status
CREATE INDEX runs_by_status ON orchestrator.runs (status, started_at, run)

-- schema runs_by_flow
CREATE INDEX runs_by_flow ON orchestrator.runs (flow, started_at, run)

-- schema schema_version
CREATE TABLE orchestrator.schema_version (
	version SERIAL NOT NULL,
	installed_at BIGINT NOT NULL,
	PRIMARY KEY (version)
)

-- schema steps
CREATE TABLE orchestrator.steps (
	run BIGINT NOT NULL,
	execution_id TEXT NOT NULL,
	step TEXT NOT NULL,
	phase TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	due_at BIGINT,
	worker BIGINT,
	is_lost SMALLINT NOT NULL,
	body BYTEA NOT NULL,
	queue INTEGER DEFAULT 0 NOT NULL,
	turn BIGINT,
	rowid BIGINT GENERATED ALWAYS AS IDENTITY
)

-- schema steps_in_turn
CREATE INDEX steps_in_turn ON orchestrator.steps (queue, turn) WHERE worker IS NULL AND turn IS NOT NULL

-- schema steps_in_queues
CREATE INDEX steps_in_queues ON orchestrator.steps (queue) WHERE worker IS NOT NULL AND queue > 0

-- schema steps_identity
CREATE UNIQUE INDEX steps_identity ON orchestrator.steps (run, execution_id)

-- schema steps_claimable
CREATE INDEX steps_claimable ON orchestrator.steps (queue, due_at) WHERE worker IS NULL AND turn IS NULL AND due_at IS NOT NULL

-- schema workers
CREATE TABLE orchestrator.workers (
	worker BIGINT GENERATED ALWAYS AS IDENTITY,
	alive_until BIGINT NOT NULL,
	host TEXT NOT NULL,
	pid INTEGER NOT NULL,
	process_started TEXT NOT NULL,
	serves TEXT DEFAULT '' NOT NULL,
	PRIMARY KEY (worker)
)

-- statement insert_run(run, flow_id, is_latest, run_id, flow, definition, request_id, status, version, attempt, started_at, closed_at, input, state, error)
INSERT INTO orchestrator.runs (run, flow_id, is_latest, run_id, flow, definition, request_id, status, version, attempt, started_at, closed_at, input, state, error) VALUES (%s::BIGINT, %s::VARCHAR, %s::SMALLINT, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::INTEGER, %s::INTEGER, %s::BIGINT, %s::BIGINT, %s, %s, %s)

-- statement update_run(version, state, of_run, from_version)
WITH found AS
(UPDATE orchestrator.runs SET version=%s::INTEGER, state=%s WHERE orchestrator.runs.run = %s::BIGINT AND orchestrator.runs.version = %s::INTEGER RETURNING 1)
 SELECT 1 / CASE WHEN ((SELECT count(*) AS count_1
FROM found) = 1) THEN 1 ELSE 0 END AS anon_1

-- statement close_run(status, version, attempt, closed_at, state, error, of_run, from_version)
WITH found AS
(UPDATE orchestrator.runs SET status=%s::VARCHAR, version=%s::INTEGER, attempt=%s::INTEGER, closed_at=%s::BIGINT, state=%s, error=%s WHERE orchestrator.runs.run = %s::BIGINT AND orchestrator.runs.version = %s::INTEGER RETURNING 1)
 SELECT 1 / CASE WHEN ((SELECT count(*) AS count_1
FROM found) = 1) THEN 1 ELSE 0 END AS anon_1

-- statement set_definition(definition, of_run)
UPDATE orchestrator.runs SET definition=%s::VARCHAR WHERE orchestrator.runs.run = %s::BIGINT

-- statement supersede_run(of_run)
UPDATE orchestrator.runs SET is_latest=0 WHERE orchestrator.runs.run = %s::BIGINT

-- statement insert_step(run, execution_id, step, phase, attempt, due_at, worker, body)
INSERT INTO orchestrator.steps (run, execution_id, step, phase, attempt, due_at, worker, is_lost, body) VALUES (%s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::INTEGER, %s::BIGINT, %s::BIGINT, 0, %s)

-- statement update_step(phase, attempt, due_at, worker, body, of_run, of_execution)
UPDATE orchestrator.steps SET phase=%s::VARCHAR, attempt=%s::INTEGER, due_at=%s::BIGINT, worker=%s::BIGINT, is_lost=0, body=%s, queue=0, turn=NULL WHERE orchestrator.steps.run = %s::BIGINT AND orchestrator.steps.execution_id = %s::VARCHAR

-- statement insert_queued_step(run, execution_id, step, phase, attempt, due_at, worker, body, queue, turn)
INSERT INTO orchestrator.steps (run, execution_id, step, phase, attempt, due_at, worker, is_lost, body, queue, turn) VALUES (%s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::INTEGER, %s::BIGINT, %s::BIGINT, 0, %s, %s::INTEGER, %s::BIGINT)

-- statement update_queued_step(phase, attempt, due_at, worker, body, queue, turn, of_run, of_execution)
UPDATE orchestrator.steps SET phase=%s::VARCHAR, attempt=%s::INTEGER, due_at=%s::BIGINT, worker=%s::BIGINT, is_lost=0, body=%s, queue=%s::INTEGER, turn=%s::BIGINT WHERE orchestrator.steps.run = %s::BIGINT AND orchestrator.steps.execution_id = %s::VARCHAR

-- statement delete_step(of_run, of_execution)
DELETE FROM orchestrator.steps WHERE orchestrator.steps.run = %s::BIGINT AND orchestrator.steps.execution_id = %s::VARCHAR

-- statement delete_steps(of_run)
DELETE FROM orchestrator.steps WHERE orchestrator.steps.run = %s::BIGINT

-- statement insert_message(run, seq, channel, key, value)
INSERT INTO orchestrator.messages (run, seq, channel, key, value) VALUES (%s::BIGINT, %s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s)

-- statement clear_messages(of_run)
DELETE FROM orchestrator.messages WHERE orchestrator.messages.run = %s::BIGINT

-- statement delete_message(of_run, of_seq)
DELETE FROM orchestrator.messages WHERE orchestrator.messages.run = %s::BIGINT AND orchestrator.messages.seq = %s::BIGINT

-- statement set_attribute(run, name, is_map, key, value)
INSERT INTO orchestrator.attributes (run, name, is_map, key, value) VALUES (%s::BIGINT, %s::VARCHAR, %s::SMALLINT, %s::VARCHAR, %s) ON CONFLICT (run, name, key) DO UPDATE SET value = excluded.value

-- statement clear_attributes(of_run)
DELETE FROM orchestrator.attributes WHERE orchestrator.attributes.run = %s::BIGINT

-- statement clear_attribute(of_run, of_name)
DELETE FROM orchestrator.attributes WHERE orchestrator.attributes.run = %s::BIGINT AND orchestrator.attributes.name = %s::VARCHAR

-- statement delete_attribute(of_run, of_name, of_key)
DELETE FROM orchestrator.attributes WHERE orchestrator.attributes.run = %s::BIGINT AND orchestrator.attributes.name = %s::VARCHAR AND orchestrator.attributes.key = %s::VARCHAR

-- statement insert_output(run, position, body)
INSERT INTO orchestrator.outputs (run, position, body) VALUES (%s::BIGINT, %s::INTEGER, %s)

-- statement delete_outputs(of_run)
DELETE FROM orchestrator.outputs WHERE orchestrator.outputs.run = %s::BIGINT

-- statement insert_round(run, round, join, branch_count, counting, missed, members, is_cancelled)
INSERT INTO orchestrator.rounds (run, round, "join", branch_count, counting, missed, members, is_cancelled) VALUES (%s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s::INTEGER, %s::INTEGER, %s::INTEGER, %s::INTEGER, %s::SMALLINT)

-- statement update_round(counting, missed, members, is_cancelled, of_run, of_round)
UPDATE orchestrator.rounds SET counting=%s::INTEGER, missed=%s::INTEGER, members=%s::INTEGER, is_cancelled=%s::SMALLINT WHERE orchestrator.rounds.run = %s::BIGINT AND orchestrator.rounds.round = %s::VARCHAR

-- statement delete_round(of_run, of_round)
DELETE FROM orchestrator.rounds WHERE orchestrator.rounds.run = %s::BIGINT AND orchestrator.rounds.round = %s::VARCHAR

-- statement delete_rounds(of_run)
DELETE FROM orchestrator.rounds WHERE orchestrator.rounds.run = %s::BIGINT

-- statement insert_report(run, round, position, branch, value)
INSERT INTO orchestrator.reports (run, round, position, branch, value) VALUES (%s::BIGINT, %s::VARCHAR, %s::INTEGER, %s::INTEGER, %s)

-- statement delete_reports(of_run, of_round)
DELETE FROM orchestrator.reports WHERE orchestrator.reports.run = %s::BIGINT AND orchestrator.reports.round = %s::VARCHAR

-- statement delete_all_reports(of_run)
DELETE FROM orchestrator.reports WHERE orchestrator.reports.run = %s::BIGINT

-- statement insert_projection(sender, flow_id, definition, body)
INSERT INTO orchestrator.projections (sender, flow_id, definition, body) VALUES (%s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s) RETURNING orchestrator.projections.seq

-- statement insert_history(run, version, at, kind, execution_id, body, event)
INSERT INTO orchestrator.history (run, version, at, kind, execution_id, body, event) VALUES (%s::BIGINT, %s::INTEGER, %s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s, %s)

-- statement claim_timers(of_queue, now, limit, claimer)
WITH first AS
(SELECT orchestrator.steps.execution_id AS execution_id, of_run.run AS run, of_run.flow_id AS flow_id, of_run.run_id AS run_id, of_run.flow AS flow, of_run.definition AS definition, of_run.request_id AS request_id, of_run.status AS status, of_run.version AS version, of_run.attempt AS attempt, of_run.started_at AS started_at, of_run.closed_at AS closed_at, of_run.is_latest AS is_latest
FROM orchestrator.steps JOIN orchestrator.runs AS of_run ON of_run.run = orchestrator.steps.run
WHERE orchestrator.steps.queue = %s::INTEGER AND orchestrator.steps.worker IS NULL AND orchestrator.steps.turn IS NULL AND orchestrator.steps.due_at IS NOT NULL AND orchestrator.steps.due_at <= %s::BIGINT AND orchestrator.steps.phase = 'waiting' AND (SELECT 1
FROM orchestrator.runs, orchestrator.pauses
WHERE orchestrator.runs.run = orchestrator.steps.run AND orchestrator.pauses.flow = orchestrator.runs.flow AND (orchestrator.pauses.step = '' OR orchestrator.pauses.step = orchestrator.steps.step)
 LIMIT 1 OFFSET 0) IS NULL ORDER BY orchestrator.steps.due_at
 LIMIT %s FOR UPDATE OF steps, of_run SKIP LOCKED)
 UPDATE orchestrator.steps SET worker=%s::BIGINT FROM first WHERE orchestrator.steps.run = any(array((SELECT first.run
FROM first))) AND orchestrator.steps.run = first.run AND orchestrator.steps.execution_id = first.execution_id RETURNING orchestrator.steps.execution_id, orchestrator.steps.is_lost, first.run, first.flow_id, first.run_id, first.flow, first.definition, first.request_id, first.status, first.version, first.attempt, first.started_at, first.closed_at, first.is_latest

-- statement next_due_at(of_queue, of_queue)
SELECT min(either.due_at) AS min_1
FROM (SELECT min(orchestrator.steps.due_at) AS due_at
FROM orchestrator.steps
WHERE orchestrator.steps.queue = %s::INTEGER AND orchestrator.steps.worker IS NULL AND orchestrator.steps.turn IS NULL AND orchestrator.steps.due_at IS NOT NULL UNION ALL SELECT first.due_at AS due_at
FROM (SELECT orchestrator.steps.due_at AS due_at
FROM orchestrator.steps
WHERE orchestrator.steps.queue = %s::INTEGER AND orchestrator.steps.worker IS NULL AND orchestrator.steps.turn IS NOT NULL ORDER BY orchestrator.steps.turn
 LIMIT 1 OFFSET 0) AS first) AS either

-- statement next_due_at_except(of_queue, definitions, of_queue, definitions)
SELECT min(either.due_at) AS min_1
FROM (SELECT min(orchestrator.steps.due_at) AS due_at
FROM orchestrator.steps
WHERE orchestrator.steps.queue = %s::INTEGER AND orchestrator.steps.worker IS NULL AND orchestrator.steps.turn IS NULL AND orchestrator.steps.due_at IS NOT NULL AND (SELECT 1
FROM orchestrator.runs, unnest(%s::TEXT[]) AS excluded(value)
WHERE orchestrator.runs.run = orchestrator.steps.run AND (orchestrator.runs.definition = excluded.value OR excluded.value = (orchestrator.runs.definition || '/' || orchestrator.steps.step))
 LIMIT 1 OFFSET 0) IS NULL AND (SELECT 1
FROM orchestrator.runs, orchestrator.pauses
WHERE orchestrator.runs.run = orchestrator.steps.run AND orchestrator.pauses.flow = orchestrator.runs.flow AND (orchestrator.pauses.step = '' OR orchestrator.pauses.step = orchestrator.steps.step)
 LIMIT 1 OFFSET 0) IS NULL UNION ALL SELECT first.due_at AS due_at
FROM (SELECT orchestrator.steps.due_at AS due_at
FROM orchestrator.steps
WHERE orchestrator.steps.queue = %s::INTEGER AND orchestrator.steps.worker IS NULL AND orchestrator.steps.turn IS NOT NULL AND (SELECT 1
FROM orchestrator.runs, unnest(%s::TEXT[]) AS excluded(value)
WHERE orchestrator.runs.run = orchestrator.steps.run AND (orchestrator.runs.definition = excluded.value OR excluded.value = (orchestrator.runs.definition || '/' || orchestrator.steps.step))
 LIMIT 1 OFFSET 0) IS NULL AND (SELECT 1
FROM orchestrator.runs, orchestrator.pauses
WHERE orchestrator.runs.run = orchestrator.steps.run AND orchestrator.pauses.flow = orchestrator.runs.flow AND (orchestrator.pauses.step = '' OR orchestrator.pauses.step = orchestrator.steps.step)
 LIMIT 1 OFFSET 0) IS NULL ORDER BY orchestrator.steps.turn
 LIMIT 1 OFFSET 0) AS first) AS either

-- statement next_timer_at(of_queue)
SELECT min(orchestrator.steps.due_at) AS min_1
FROM orchestrator.steps
WHERE orchestrator.steps.queue = %s::INTEGER AND orchestrator.steps.worker IS NULL AND orchestrator.steps.turn IS NULL AND orchestrator.steps.due_at IS NOT NULL AND orchestrator.steps.phase = 'waiting' AND (SELECT 1
FROM orchestrator.runs, orchestrator.pauses
WHERE orchestrator.runs.run = orchestrator.steps.run AND orchestrator.pauses.flow = orchestrator.runs.flow AND (orchestrator.pauses.step = '' OR orchestrator.pauses.step = orchestrator.steps.step)
 LIMIT 1 OFFSET 0) IS NULL

-- statement oldest_due_at()
SELECT min(either.due_at) AS min_1
FROM (SELECT (SELECT min(orchestrator.steps.due_at) AS min_2
FROM orchestrator.steps
WHERE orchestrator.steps.queue = known.queue AND orchestrator.steps.worker IS NULL AND orchestrator.steps.turn IS NULL AND orchestrator.steps.due_at IS NOT NULL) AS due_at
FROM (SELECT 0 AS queue UNION ALL SELECT orchestrator.queues.queue AS queue
FROM orchestrator.queues) AS known UNION ALL SELECT (SELECT orchestrator.steps.due_at
FROM orchestrator.steps
WHERE orchestrator.steps.queue = known.queue AND orchestrator.steps.worker IS NULL AND orchestrator.steps.turn IS NOT NULL ORDER BY orchestrator.steps.turn
 LIMIT 1 OFFSET 0) AS due_at
FROM (SELECT 0 AS queue UNION ALL SELECT orchestrator.queues.queue AS queue
FROM orchestrator.queues) AS known) AS either

-- statement busy(definitions, until)
SELECT EXISTS (SELECT *
FROM orchestrator.steps
WHERE (SELECT 1
FROM orchestrator.runs, unnest(%s::TEXT[]) AS excluded(value)
WHERE orchestrator.runs.run = orchestrator.steps.run AND (orchestrator.runs.definition = excluded.value OR excluded.value = (orchestrator.runs.definition || '/' || orchestrator.steps.step))
 LIMIT 1 OFFSET 0) IS NULL AND orchestrator.steps.due_at IS NOT NULL AND (orchestrator.steps.worker IS NOT NULL OR (SELECT 1
FROM orchestrator.runs, orchestrator.pauses
WHERE orchestrator.runs.run = orchestrator.steps.run AND orchestrator.pauses.flow = orchestrator.runs.flow AND (orchestrator.pauses.step = '' OR orchestrator.pauses.step = orchestrator.steps.step)
 LIMIT 1 OFFSET 0) IS NULL AND (orchestrator.steps.due_at <= %s::BIGINT OR orchestrator.steps.attempt > 1 AND orchestrator.steps.phase != 'waiting'))) AS anon_1

-- statement busy_in_queue(of_queue, until)
SELECT EXISTS (SELECT *
FROM orchestrator.steps
WHERE orchestrator.steps.queue = %s::INTEGER AND orchestrator.steps.due_at IS NOT NULL AND (orchestrator.steps.worker IS NOT NULL OR (SELECT 1
FROM orchestrator.runs, orchestrator.pauses
WHERE orchestrator.runs.run = orchestrator.steps.run AND orchestrator.pauses.flow = orchestrator.runs.flow AND (orchestrator.pauses.step = '' OR orchestrator.pauses.step = orchestrator.steps.step)
 LIMIT 1 OFFSET 0) IS NULL AND (orchestrator.steps.due_at <= %s::BIGINT OR orchestrator.steps.attempt > 1 AND orchestrator.steps.phase != 'waiting'))) AS anon_1

-- statement all_queues()
SELECT orchestrator.queues.queue, orchestrator.queues.name, orchestrator.queues.settings
FROM orchestrator.queues ORDER BY orchestrator.queues.queue

-- statement insert_queue(name, settings)
INSERT INTO orchestrator.queues (name, settings, spent_until) VALUES (%s::VARCHAR, %s::VARCHAR, 0) RETURNING orchestrator.queues.queue

-- statement set_queue(settings, the_queue)
UPDATE orchestrator.queues SET settings=%s::VARCHAR WHERE orchestrator.queues.queue = %s::BIGINT

-- statement delete_queue(the_queue)
DELETE FROM orchestrator.queues WHERE orchestrator.queues.queue = %s::BIGINT

-- statement ready_queues(queues, now)
SELECT listed.value
FROM unnest(%s::BIGINT[]) AS listed(value)
WHERE (SELECT 1
FROM orchestrator.steps
WHERE orchestrator.steps.queue = listed.value AND orchestrator.steps.worker IS NULL AND orchestrator.steps.turn IS NOT NULL ORDER BY orchestrator.steps.turn
 LIMIT 1 OFFSET 0) IS NOT NULL OR (SELECT 1
FROM orchestrator.steps
WHERE orchestrator.steps.queue = listed.value AND orchestrator.steps.worker IS NULL AND orchestrator.steps.turn IS NULL AND orchestrator.steps.due_at IS NOT NULL AND orchestrator.steps.due_at <= %s::BIGINT ORDER BY orchestrator.steps.due_at
 LIMIT 1 OFFSET 0) IS NOT NULL

-- statement spent_of_queues(queues)
SELECT orchestrator.queues.queue, orchestrator.queues.spent_until
FROM orchestrator.queues
WHERE orchestrator.queues.queue = any(%s::BIGINT[])

-- statement spend(spent_until, the_queue)
UPDATE orchestrator.queues SET spent_until=%s::BIGINT WHERE orchestrator.queues.queue = %s::BIGINT

-- statement leased_counts(queues)
SELECT orchestrator.steps.queue, count(*) AS count_1
FROM orchestrator.steps
WHERE orchestrator.steps.worker IS NOT NULL AND orchestrator.steps.queue > 0 AND orchestrator.steps.queue = any(%s::BIGINT[]) GROUP BY orchestrator.steps.queue

-- statement calls()
SELECT orchestrator.steps.run, orchestrator.steps.execution_id, orchestrator.runs.flow, orchestrator.steps.step, orchestrator.steps.queue
FROM orchestrator.steps JOIN orchestrator.runs ON orchestrator.runs.run = orchestrator.steps.run
WHERE orchestrator.steps.phase != 'waiting' ORDER BY orchestrator.steps.run

-- statement set_step_queue(queue, of_run, of_execution)
UPDATE orchestrator.steps SET queue=%s::INTEGER, turn=NULL WHERE orchestrator.steps.run = %s::BIGINT AND orchestrator.steps.execution_id = %s::VARCHAR

-- statement release(of_run, of_execution, holder)
UPDATE orchestrator.steps SET worker=NULL WHERE orchestrator.steps.run = %s::BIGINT AND orchestrator.steps.execution_id = %s::VARCHAR AND orchestrator.steps.worker = %s::BIGINT

-- statement release_lost(holder)
UPDATE orchestrator.steps SET worker=NULL, is_lost=1 WHERE orchestrator.steps.worker = %s::BIGINT

-- statement leases(of_run, executions)
SELECT orchestrator.steps.execution_id, orchestrator.steps.worker
FROM orchestrator.steps
WHERE orchestrator.steps.run = %s::BIGINT AND orchestrator.steps.execution_id = any(%s::TEXT[])

-- statement insert_worker(alive_until, host, pid, process_started, serves)
INSERT INTO orchestrator.workers (alive_until, host, pid, process_started, serves) VALUES (%s::BIGINT, %s::VARCHAR, %s::INTEGER, %s::VARCHAR, %s::VARCHAR) RETURNING orchestrator.workers.worker

-- statement renew_worker(alive_until, of_worker)
UPDATE orchestrator.workers SET alive_until=%s::BIGINT WHERE orchestrator.workers.worker = %s::BIGINT RETURNING orchestrator.workers.worker

-- statement delete_worker(of_worker)
DELETE FROM orchestrator.workers WHERE orchestrator.workers.worker = %s::BIGINT

-- statement all_workers()
SELECT orchestrator.workers.worker, orchestrator.workers.alive_until, orchestrator.workers.host, orchestrator.workers.pid, orchestrator.workers.process_started, orchestrator.workers.serves
FROM orchestrator.workers ORDER BY orchestrator.workers.worker

-- statement find_latest(of_flow_id)
SELECT orchestrator.runs.run, orchestrator.runs.flow_id, orchestrator.runs.run_id, orchestrator.runs.flow, orchestrator.runs.definition, orchestrator.runs.request_id, orchestrator.runs.status, orchestrator.runs.version, orchestrator.runs.attempt, orchestrator.runs.started_at, orchestrator.runs.closed_at
FROM orchestrator.runs
WHERE orchestrator.runs.flow_id = %s::VARCHAR AND orchestrator.runs.is_latest = 1

-- statement find_run(of_run)
SELECT orchestrator.runs.run, orchestrator.runs.flow_id, orchestrator.runs.run_id, orchestrator.runs.flow, orchestrator.runs.definition, orchestrator.runs.request_id, orchestrator.runs.status, orchestrator.runs.version, orchestrator.runs.attempt, orchestrator.runs.started_at, orchestrator.runs.closed_at
FROM orchestrator.runs
WHERE orchestrator.runs.run = %s::BIGINT

-- statement rounds_of(of_run)
SELECT orchestrator.rounds.round, orchestrator.rounds."join", orchestrator.rounds.branch_count, orchestrator.rounds.counting, orchestrator.rounds.missed, orchestrator.rounds.members, orchestrator.rounds.is_cancelled
FROM orchestrator.rounds
WHERE orchestrator.rounds.run = %s::BIGINT ORDER BY rowid

-- statement rows_of_run(run_0, run_1, run_2, run_3, run_4, run_5)
SELECT 0, orchestrator.runs.run, CAST(NULL AS TEXT) AS anon_1, CAST(NULL AS TEXT) AS anon__1, CAST(NULL AS BIGINT) AS anon__2, orchestrator.runs.input, orchestrator.runs.state, orchestrator.runs.error
FROM orchestrator.runs
WHERE orchestrator.runs.run = %s::BIGINT UNION ALL SELECT 1, rowid, orchestrator.steps.execution_id, NULL AS anon_1, orchestrator.steps.worker, orchestrator.steps.body, NULL AS anon__3, NULL AS anon__4
FROM orchestrator.steps
WHERE orchestrator.steps.run = %s::BIGINT UNION ALL SELECT 2, orchestrator.messages.seq, orchestrator.messages.channel, orchestrator.messages.key, NULL AS anon_1, orchestrator.messages.value, NULL AS anon__3, NULL AS anon__4
FROM orchestrator.messages
WHERE orchestrator.messages.run = %s::BIGINT UNION ALL SELECT 3, rowid, orchestrator.attributes.name, orchestrator.attributes.key, orchestrator.attributes.is_map, orchestrator.attributes.value, NULL AS anon_1, NULL AS anon__3
FROM orchestrator.attributes
WHERE orchestrator.attributes.run = %s::BIGINT UNION ALL SELECT 4, rowid, NULL AS anon_1, NULL AS anon__3, NULL AS anon__4, NULL AS anon__5, NULL AS anon__6, NULL AS anon__7
FROM orchestrator.rounds
WHERE orchestrator.rounds.run = %s::BIGINT UNION ALL SELECT 5, orchestrator.outputs.position, NULL AS anon_1, NULL AS anon__3, NULL AS anon__4, orchestrator.outputs.body, NULL AS anon__5, NULL AS anon__6
FROM orchestrator.outputs
WHERE orchestrator.outputs.run = %s::BIGINT

-- statement reports_of(of_run)
SELECT orchestrator.reports.round, orchestrator.reports.branch, orchestrator.reports.value
FROM orchestrator.reports
WHERE orchestrator.reports.run = %s::BIGINT ORDER BY orchestrator.reports.round, orchestrator.reports.position

-- statement history_of(of_run, after_version)
SELECT orchestrator.history.version, orchestrator.history.at, orchestrator.history.kind, orchestrator.history.execution_id, orchestrator.history.body, orchestrator.history.event
FROM orchestrator.history
WHERE orchestrator.history.run = %s::BIGINT AND orchestrator.history.version > %s::INTEGER ORDER BY orchestrator.history.version

-- statement live_of_definition(of_definition, after_run, limit)
SELECT orchestrator.runs.run, orchestrator.runs.flow_id, orchestrator.runs.run_id, orchestrator.runs.flow, orchestrator.runs.definition, orchestrator.runs.request_id, orchestrator.runs.status, orchestrator.runs.version, orchestrator.runs.attempt, orchestrator.runs.started_at, orchestrator.runs.closed_at
FROM orchestrator.runs
WHERE orchestrator.runs.definition = %s::VARCHAR AND orchestrator.runs.status = 'RUNNING' AND orchestrator.runs.run > %s::BIGINT ORDER BY orchestrator.runs.run
 LIMIT %s OFFSET 0

-- statement claim_projections(claimer, claimer, limit)
UPDATE orchestrator.projections SET worker=%s::BIGINT WHERE orchestrator.projections.seq IN (SELECT orchestrator.projections.seq
FROM orchestrator.projections
WHERE NOT (EXISTS (SELECT *
FROM orchestrator.projections AS other
WHERE other.worker != %s::BIGINT)) ORDER BY orchestrator.projections.seq
 LIMIT %s) RETURNING orchestrator.projections.seq, orchestrator.projections.sender, orchestrator.projections.flow_id, orchestrator.projections.definition, orchestrator.projections.body

-- statement delete_projection(of_seq)
DELETE FROM orchestrator.projections WHERE orchestrator.projections.seq = %s::BIGINT

-- statement release_projections(holder)
UPDATE orchestrator.projections SET worker=NULL WHERE orchestrator.projections.worker = %s::BIGINT

-- statement has_projections()
SELECT EXISTS (SELECT *
FROM orchestrator.projections
WHERE orchestrator.projections.seq > 0) AS anon_1

-- statement has_projections_of(of_run)
SELECT EXISTS (SELECT *
FROM orchestrator.projections
WHERE orchestrator.projections.sender = %s::BIGINT) AS anon_1

-- statement insert_definition(hash, flow, path, text, stored_at)
INSERT INTO orchestrator.definitions (hash, flow, path, text, stored_at) VALUES (%s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::BIGINT) ON CONFLICT (hash) DO UPDATE SET stored_at = excluded.stored_at

-- statement definition_names()
SELECT orchestrator.definitions.flow, orchestrator.definitions.hash
FROM orchestrator.definitions ORDER BY orchestrator.definitions.stored_at, rowid

-- statement definition(of_hash)
SELECT orchestrator.definitions.path, orchestrator.definitions.text
FROM orchestrator.definitions
WHERE orchestrator.definitions.hash = %s::VARCHAR

-- statement all_pauses()
SELECT orchestrator.pauses.flow, orchestrator.pauses.step
FROM orchestrator.pauses

-- statement insert_pause(flow, step, paused_at)
INSERT INTO orchestrator.pauses (flow, step, paused_at) VALUES (%s::VARCHAR, %s::VARCHAR, %s::BIGINT) ON CONFLICT DO NOTHING

-- statement delete_pause(of_flow, of_step)
DELETE FROM orchestrator.pauses WHERE orchestrator.pauses.flow = %s::VARCHAR AND orchestrator.pauses.step = %s::VARCHAR

-- statement prunable_runs(before, limit)
SELECT orchestrator.runs.run
FROM orchestrator.runs
WHERE orchestrator.runs.closed_at < %s::BIGINT ORDER BY orchestrator.runs.closed_at
 LIMIT %s FOR UPDATE SKIP LOCKED

-- statement prunable_count(before)
SELECT count(*) AS count_1
FROM orchestrator.runs
WHERE orchestrator.runs.closed_at < %s::BIGINT

-- statement mark(name, value)
INSERT INTO orchestrator.marks (name, value) VALUES (%s::VARCHAR, %s::BIGINT) ON CONFLICT (name) DO UPDATE SET value = greatest(orchestrator.marks.value, excluded.value)

-- statement unmark(of_name)
DELETE FROM orchestrator.marks WHERE orchestrator.marks.name = %s::VARCHAR

-- statement runs_with_objects_left()
SELECT orchestrator.marks.value
FROM orchestrator.marks
WHERE substr(orchestrator.marks.name, 1, 8) = 'objects:' ORDER BY orchestrator.marks.value

-- statement delete_unused_definitions(hashes)
DELETE FROM orchestrator.definitions WHERE orchestrator.definitions.hash = any(%s::TEXT[]) AND (EXISTS (SELECT *
FROM orchestrator.definitions AS successor
WHERE successor.flow = orchestrator.definitions.flow AND successor.stored_at > orchestrator.definitions.stored_at)) AND NOT (EXISTS (SELECT *
FROM orchestrator.runs
WHERE orchestrator.runs.flow = orchestrator.definitions.flow AND orchestrator.runs.definition = orchestrator.definitions.hash)) AND (orchestrator.definitions.hash NOT IN (SELECT orchestrator.projections.definition
FROM orchestrator.projections)) RETURNING orchestrator.definitions.hash

-- statement run_counts()
SELECT orchestrator.runs.status, count(*) AS count_1
FROM orchestrator.runs GROUP BY orchestrator.runs.status ORDER BY orchestrator.runs.status

-- statement oldest_runs()
SELECT (SELECT min(orchestrator.runs.started_at) AS min_1
FROM orchestrator.runs
WHERE orchestrator.runs.status = 'RUNNING') AS anon_1, (SELECT min(orchestrator.runs.closed_at) AS min_2
FROM orchestrator.runs
WHERE orchestrator.runs.closed_at IS NOT NULL) AS anon_2

-- statement work_counts(now)
SELECT orchestrator.steps.queue, count(CASE WHEN (orchestrator.steps.worker IS NOT NULL) THEN 1 END) AS count_1, count(CASE WHEN (orchestrator.steps.worker IS NULL AND orchestrator.steps.due_at <= %s::BIGINT) THEN 1 END) AS count_2
FROM orchestrator.steps GROUP BY orchestrator.steps.queue

-- statement row_counts()
SELECT 'definitions', count(*) AS count_1
FROM orchestrator.definitions UNION ALL SELECT 'history', count(*) AS count_2
FROM orchestrator.history UNION ALL SELECT 'messages', count(*) AS count_3
FROM orchestrator.messages UNION ALL SELECT 'steps', count(*) AS count_4
FROM orchestrator.steps

-- statement runs_of(of_flow_id)
SELECT orchestrator.runs.run
FROM orchestrator.runs
WHERE orchestrator.runs.flow_id = %s::VARCHAR ORDER BY orchestrator.runs.run

-- statement all_runs()
SELECT orchestrator.runs.run
FROM orchestrator.runs ORDER BY orchestrator.runs.run

-- statement all_definitions()
SELECT orchestrator.definitions.hash, orchestrator.definitions.flow, orchestrator.definitions.path, orchestrator.definitions.text, orchestrator.definitions.stored_at
FROM orchestrator.definitions ORDER BY orchestrator.definitions.stored_at

-- statement insert_schema_version(version, installed_at)
INSERT INTO orchestrator.schema_version (version, installed_at) VALUES (%s::INTEGER, %s::BIGINT)

-- statement installed_version()
SELECT max(orchestrator.schema_version.version) AS max_1
FROM orchestrator.schema_version

-- statement heads(before_time, before_run, since, value, value, limit)
SELECT orchestrator.runs.run, orchestrator.runs.flow_id, orchestrator.runs.run_id, orchestrator.runs.flow, orchestrator.runs.definition, orchestrator.runs.request_id, orchestrator.runs.status, orchestrator.runs.version, orchestrator.runs.attempt, orchestrator.runs.started_at, orchestrator.runs.closed_at
FROM orchestrator.runs
WHERE orchestrator.runs.is_latest = 1 AND (orchestrator.runs.started_at, orchestrator.runs.run) < (%s, %s) AND orchestrator.runs.started_at >= %s::BIGINT AND (CAST(%s AS BYTEA) IS NULL OR (EXISTS (SELECT *
FROM orchestrator.attributes
WHERE orchestrator.attributes.run = orchestrator.runs.run AND (orchestrator.attributes.value = CAST(%s AS BYTEA) OR substr(orchestrator.attributes.value, 1, 1) = '\xC1'::bytea)))) ORDER BY orchestrator.runs.started_at DESC, orchestrator.runs.run DESC
 LIMIT %s OFFSET 0

-- statement heads_of_flow(of_flow, before_time, before_run, since, value, value, limit)
SELECT orchestrator.runs.run, orchestrator.runs.flow_id, orchestrator.runs.run_id, orchestrator.runs.flow, orchestrator.runs.definition, orchestrator.runs.request_id, orchestrator.runs.status, orchestrator.runs.version, orchestrator.runs.attempt, orchestrator.runs.started_at, orchestrator.runs.closed_at
FROM orchestrator.runs
WHERE orchestrator.runs.flow = %s::VARCHAR AND orchestrator.runs.is_latest = 1 AND (orchestrator.runs.started_at, orchestrator.runs.run) < (%s, %s) AND orchestrator.runs.started_at >= %s::BIGINT AND (CAST(%s AS BYTEA) IS NULL OR (EXISTS (SELECT *
FROM orchestrator.attributes
WHERE orchestrator.attributes.run = orchestrator.runs.run AND (orchestrator.attributes.value = CAST(%s AS BYTEA) OR substr(orchestrator.attributes.value, 1, 1) = '\xC1'::bytea)))) ORDER BY orchestrator.runs.started_at DESC, orchestrator.runs.run DESC
 LIMIT %s OFFSET 0

-- statement heads_of_status(of_status, before_time, before_run, since, value, value, limit)
SELECT orchestrator.runs.run, orchestrator.runs.flow_id, orchestrator.runs.run_id, orchestrator.runs.flow, orchestrator.runs.definition, orchestrator.runs.request_id, orchestrator.runs.status, orchestrator.runs.version, orchestrator.runs.attempt, orchestrator.runs.started_at, orchestrator.runs.closed_at
FROM orchestrator.runs
WHERE orchestrator.runs.status = %s::VARCHAR AND orchestrator.runs.is_latest = 1 AND (orchestrator.runs.started_at, orchestrator.runs.run) < (%s, %s) AND orchestrator.runs.started_at >= %s::BIGINT AND (CAST(%s AS BYTEA) IS NULL OR (EXISTS (SELECT *
FROM orchestrator.attributes
WHERE orchestrator.attributes.run = orchestrator.runs.run AND (orchestrator.attributes.value = CAST(%s AS BYTEA) OR substr(orchestrator.attributes.value, 1, 1) = '\xC1'::bytea)))) ORDER BY orchestrator.runs.started_at DESC, orchestrator.runs.run DESC
 LIMIT %s OFFSET 0

-- statement attribute_values(runs)
SELECT orchestrator.attributes.run, orchestrator.attributes.name, orchestrator.attributes.is_map, orchestrator.attributes.value
FROM orchestrator.attributes
WHERE orchestrator.attributes.run = any(%s::BIGINT[]) ORDER BY orchestrator.attributes.run, rowid

-- statement running_among(runs)
SELECT orchestrator.runs.run
FROM orchestrator.runs
WHERE orchestrator.runs.run = any(%s::BIGINT[]) AND orchestrator.runs.closed_at IS NULL

-- statement active_steps(runs)
SELECT DISTINCT orchestrator.steps.run, orchestrator.steps.step
FROM orchestrator.steps
WHERE orchestrator.steps.run = any(%s::BIGINT[])

-- statement prune_attributes(runs)
DELETE FROM orchestrator.attributes WHERE orchestrator.attributes.run = any(%s::BIGINT[])

-- statement export_attributes(of_run)
SELECT orchestrator.attributes.name, orchestrator.attributes.is_map, orchestrator.attributes.key, orchestrator.attributes.value
FROM orchestrator.attributes
WHERE orchestrator.attributes.run = %s::BIGINT ORDER BY rowid

-- statement import_attributes(run, name, is_map, key, value)
INSERT INTO orchestrator.attributes (run, name, is_map, key, value) VALUES (%s::BIGINT, %s::VARCHAR, %s::SMALLINT, %s::VARCHAR, %s)

-- statement prune_history(runs)
DELETE FROM orchestrator.history WHERE orchestrator.history.run = any(%s::BIGINT[])

-- statement export_history(of_run)
SELECT orchestrator.history.version, orchestrator.history.at, orchestrator.history.kind, orchestrator.history.execution_id, orchestrator.history.body, orchestrator.history.event
FROM orchestrator.history
WHERE orchestrator.history.run = %s::BIGINT ORDER BY orchestrator.history.version

-- statement import_history(run, version, at, kind, execution_id, body, event)
INSERT INTO orchestrator.history (run, version, at, kind, execution_id, body, event) VALUES (%s::BIGINT, %s::INTEGER, %s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s, %s)

-- statement prune_messages(runs)
DELETE FROM orchestrator.messages WHERE orchestrator.messages.run = any(%s::BIGINT[])

-- statement export_messages(of_run)
SELECT orchestrator.messages.seq, orchestrator.messages.channel, orchestrator.messages.key, orchestrator.messages.value
FROM orchestrator.messages
WHERE orchestrator.messages.run = %s::BIGINT ORDER BY orchestrator.messages.seq

-- statement import_messages(run, seq, channel, key, value)
INSERT INTO orchestrator.messages (run, seq, channel, key, value) VALUES (%s::BIGINT, %s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s)

-- statement prune_outputs(runs)
DELETE FROM orchestrator.outputs WHERE orchestrator.outputs.run = any(%s::BIGINT[])

-- statement export_outputs(of_run)
SELECT orchestrator.outputs.position, orchestrator.outputs.body
FROM orchestrator.outputs
WHERE orchestrator.outputs.run = %s::BIGINT ORDER BY orchestrator.outputs.position

-- statement import_outputs(run, position, body)
INSERT INTO orchestrator.outputs (run, position, body) VALUES (%s::BIGINT, %s::INTEGER, %s)

-- statement prune_reports(runs)
DELETE FROM orchestrator.reports WHERE orchestrator.reports.run = any(%s::BIGINT[])

-- statement export_reports(of_run)
SELECT orchestrator.reports.round, orchestrator.reports.position, orchestrator.reports.branch, orchestrator.reports.value
FROM orchestrator.reports
WHERE orchestrator.reports.run = %s::BIGINT ORDER BY orchestrator.reports.position

-- statement import_reports(run, round, position, branch, value)
INSERT INTO orchestrator.reports (run, round, position, branch, value) VALUES (%s::BIGINT, %s::VARCHAR, %s::INTEGER, %s::INTEGER, %s)

-- statement prune_rounds(runs)
DELETE FROM orchestrator.rounds WHERE orchestrator.rounds.run = any(%s::BIGINT[])

-- statement export_rounds(of_run)
SELECT orchestrator.rounds.round, orchestrator.rounds."join", orchestrator.rounds.branch_count, orchestrator.rounds.counting, orchestrator.rounds.missed, orchestrator.rounds.members, orchestrator.rounds.is_cancelled
FROM orchestrator.rounds
WHERE orchestrator.rounds.run = %s::BIGINT ORDER BY rowid

-- statement import_rounds(run, round, join, branch_count, counting, missed, members, is_cancelled)
INSERT INTO orchestrator.rounds (run, round, "join", branch_count, counting, missed, members, is_cancelled) VALUES (%s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s::INTEGER, %s::INTEGER, %s::INTEGER, %s::INTEGER, %s::SMALLINT)

-- statement prune_runs(runs)
DELETE FROM orchestrator.runs WHERE orchestrator.runs.run = any(%s::BIGINT[])

-- statement export_runs(of_run)
SELECT orchestrator.runs.flow_id, orchestrator.runs.is_latest, orchestrator.runs.run_id, orchestrator.runs.flow, orchestrator.runs.definition, orchestrator.runs.request_id, orchestrator.runs.status, orchestrator.runs.version, orchestrator.runs.attempt, orchestrator.runs.started_at, orchestrator.runs.closed_at, orchestrator.runs.input, orchestrator.runs.state, orchestrator.runs.error
FROM orchestrator.runs
WHERE orchestrator.runs.run = %s::BIGINT ORDER BY orchestrator.runs.run

-- statement import_runs(run, flow_id, is_latest, run_id, flow, definition, request_id, status, version, attempt, started_at, closed_at, input, state, error)
INSERT INTO orchestrator.runs (run, flow_id, is_latest, run_id, flow, definition, request_id, status, version, attempt, started_at, closed_at, input, state, error) VALUES (%s::BIGINT, %s::VARCHAR, %s::SMALLINT, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::INTEGER, %s::INTEGER, %s::BIGINT, %s::BIGINT, %s, %s, %s)

-- statement prune_steps(runs)
DELETE FROM orchestrator.steps WHERE orchestrator.steps.run = any(%s::BIGINT[])

-- statement export_steps(of_run)
SELECT orchestrator.steps.execution_id, orchestrator.steps.step, orchestrator.steps.phase, orchestrator.steps.attempt, orchestrator.steps.due_at, orchestrator.steps.worker, orchestrator.steps.is_lost, orchestrator.steps.body, orchestrator.steps.queue, orchestrator.steps.turn
FROM orchestrator.steps
WHERE orchestrator.steps.run = %s::BIGINT ORDER BY rowid

-- statement import_steps(run, execution_id, step, phase, attempt, due_at, worker, is_lost, body, queue, turn)
INSERT INTO orchestrator.steps (run, execution_id, step, phase, attempt, due_at, worker, is_lost, body, queue, turn) VALUES (%s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::INTEGER, %s::BIGINT, %s::BIGINT, %s::SMALLINT, %s, %s::INTEGER, %s::BIGINT)

-- statement claim(of_queue, now, due_limit, of_queue, limit, limit, claimer)
WITH due AS
(SELECT orchestrator.steps.execution_id AS execution_id, of_run.run AS run, of_run.flow_id AS flow_id, of_run.run_id AS run_id, of_run.flow AS flow, of_run.definition AS definition, of_run.request_id AS request_id, of_run.status AS status, of_run.version AS version, of_run.attempt AS attempt, of_run.started_at AS started_at, of_run.closed_at AS closed_at, of_run.is_latest AS is_latest
FROM orchestrator.steps JOIN orchestrator.runs AS of_run ON of_run.run = orchestrator.steps.run
WHERE orchestrator.steps.queue = %s::INTEGER AND orchestrator.steps.worker IS NULL AND orchestrator.steps.turn IS NULL AND orchestrator.steps.due_at IS NOT NULL AND orchestrator.steps.due_at <= %s::BIGINT ORDER BY orchestrator.steps.due_at
 LIMIT %s FOR UPDATE OF steps, of_run SKIP LOCKED),
in_turn AS
(SELECT orchestrator.steps.execution_id AS execution_id, of_run.run AS run, of_run.flow_id AS flow_id, of_run.run_id AS run_id, of_run.flow AS flow, of_run.definition AS definition, of_run.request_id AS request_id, of_run.status AS status, of_run.version AS version, of_run.attempt AS attempt, of_run.started_at AS started_at, of_run.closed_at AS closed_at, of_run.is_latest AS is_latest
FROM orchestrator.steps JOIN orchestrator.runs AS of_run ON of_run.run = orchestrator.steps.run
WHERE orchestrator.steps.queue = %s::INTEGER AND orchestrator.steps.worker IS NULL AND orchestrator.steps.turn IS NOT NULL ORDER BY orchestrator.steps.turn
 LIMIT %s::BIGINT - (SELECT count(*) AS count_1
FROM due) FOR UPDATE OF steps, of_run SKIP LOCKED),
first AS
(SELECT either.execution_id AS execution_id, either.run AS run, either.flow_id AS flow_id, either.run_id AS run_id, either.flow AS flow, either.definition AS definition, either.request_id AS request_id, either.status AS status, either.version AS version, either.attempt AS attempt, either.started_at AS started_at, either.closed_at AS closed_at, either.is_latest AS is_latest
FROM (SELECT due.execution_id AS execution_id, due.run AS run, due.flow_id AS flow_id, due.run_id AS run_id, due.flow AS flow, due.definition AS definition, due.request_id AS request_id, due.status AS status, due.version AS version, due.attempt AS attempt, due.started_at AS started_at, due.closed_at AS closed_at, due.is_latest AS is_latest
FROM due UNION ALL SELECT in_turn.execution_id AS execution_id, in_turn.run AS run, in_turn.flow_id AS flow_id, in_turn.run_id AS run_id, in_turn.flow AS flow, in_turn.definition AS definition, in_turn.request_id AS request_id, in_turn.status AS status, in_turn.version AS version, in_turn.attempt AS attempt, in_turn.started_at AS started_at, in_turn.closed_at AS closed_at, in_turn.is_latest AS is_latest
FROM in_turn) AS either
 LIMIT %s::BIGINT)
 UPDATE orchestrator.steps SET worker=%s::BIGINT, turn=NULL FROM first WHERE orchestrator.steps.run = any(array((SELECT first.run
FROM first))) AND orchestrator.steps.run = first.run AND orchestrator.steps.execution_id = first.execution_id RETURNING orchestrator.steps.execution_id, orchestrator.steps.is_lost, first.run, first.flow_id, first.run_id, first.flow, first.definition, first.request_id, first.status, first.version, first.attempt, first.started_at, first.closed_at, first.is_latest

-- statement claim_except(of_queue, now, definitions, due_limit, of_queue, definitions, limit, limit, claimer)
WITH due AS
(SELECT orchestrator.steps.execution_id AS execution_id, of_run.run AS run, of_run.flow_id AS flow_id, of_run.run_id AS run_id, of_run.flow AS flow, of_run.definition AS definition, of_run.request_id AS request_id, of_run.status AS status, of_run.version AS version, of_run.attempt AS attempt, of_run.started_at AS started_at, of_run.closed_at AS closed_at, of_run.is_latest AS is_latest
FROM orchestrator.steps JOIN orchestrator.runs AS of_run ON of_run.run = orchestrator.steps.run
WHERE orchestrator.steps.queue = %s::INTEGER AND orchestrator.steps.worker IS NULL AND orchestrator.steps.turn IS NULL AND orchestrator.steps.due_at IS NOT NULL AND orchestrator.steps.due_at <= %s::BIGINT AND (SELECT 1
FROM orchestrator.runs, unnest(%s::TEXT[]) AS excluded(value)
WHERE orchestrator.runs.run = orchestrator.steps.run AND (orchestrator.runs.definition = excluded.value OR excluded.value = (orchestrator.runs.definition || '/' || orchestrator.steps.step))
 LIMIT 1 OFFSET 0) IS NULL AND (SELECT 1
FROM orchestrator.runs, orchestrator.pauses
WHERE orchestrator.runs.run = orchestrator.steps.run AND orchestrator.pauses.flow = orchestrator.runs.flow AND (orchestrator.pauses.step = '' OR orchestrator.pauses.step = orchestrator.steps.step)
 LIMIT 1 OFFSET 0) IS NULL ORDER BY orchestrator.steps.due_at
 LIMIT %s FOR UPDATE OF steps, of_run SKIP LOCKED),
in_turn AS
(SELECT orchestrator.steps.execution_id AS execution_id, of_run.run AS run, of_run.flow_id AS flow_id, of_run.run_id AS run_id, of_run.flow AS flow, of_run.definition AS definition, of_run.request_id AS request_id, of_run.status AS status, of_run.version AS version, of_run.attempt AS attempt, of_run.started_at AS started_at, of_run.closed_at AS closed_at, of_run.is_latest AS is_latest
FROM orchestrator.steps JOIN orchestrator.runs AS of_run ON of_run.run = orchestrator.steps.run
WHERE orchestrator.steps.queue = %s::INTEGER AND orchestrator.steps.worker IS NULL AND orchestrator.steps.turn IS NOT NULL AND (SELECT 1
FROM orchestrator.runs, unnest(%s::TEXT[]) AS excluded(value)
WHERE orchestrator.runs.run = orchestrator.steps.run AND (orchestrator.runs.definition = excluded.value OR excluded.value = (orchestrator.runs.definition || '/' || orchestrator.steps.step))
 LIMIT 1 OFFSET 0) IS NULL AND (SELECT 1
FROM orchestrator.runs, orchestrator.pauses
WHERE orchestrator.runs.run = orchestrator.steps.run AND orchestrator.pauses.flow = orchestrator.runs.flow AND (orchestrator.pauses.step = '' OR orchestrator.pauses.step = orchestrator.steps.step)
 LIMIT 1 OFFSET 0) IS NULL ORDER BY orchestrator.steps.turn
 LIMIT %s::BIGINT - (SELECT count(*) AS count_1
FROM due) FOR UPDATE OF steps, of_run SKIP LOCKED),
first AS
(SELECT either.execution_id AS execution_id, either.run AS run, either.flow_id AS flow_id, either.run_id AS run_id, either.flow AS flow, either.definition AS definition, either.request_id AS request_id, either.status AS status, either.version AS version, either.attempt AS attempt, either.started_at AS started_at, either.closed_at AS closed_at, either.is_latest AS is_latest
FROM (SELECT due.execution_id AS execution_id, due.run AS run, due.flow_id AS flow_id, due.run_id AS run_id, due.flow AS flow, due.definition AS definition, due.request_id AS request_id, due.status AS status, due.version AS version, due.attempt AS attempt, due.started_at AS started_at, due.closed_at AS closed_at, due.is_latest AS is_latest
FROM due UNION ALL SELECT in_turn.execution_id AS execution_id, in_turn.run AS run, in_turn.flow_id AS flow_id, in_turn.run_id AS run_id, in_turn.flow AS flow, in_turn.definition AS definition, in_turn.request_id AS request_id, in_turn.status AS status, in_turn.version AS version, in_turn.attempt AS attempt, in_turn.started_at AS started_at, in_turn.closed_at AS closed_at, in_turn.is_latest AS is_latest
FROM in_turn) AS either
 LIMIT %s::BIGINT)
 UPDATE orchestrator.steps SET worker=%s::BIGINT, turn=NULL FROM first WHERE orchestrator.steps.run = any(array((SELECT first.run
FROM first))) AND orchestrator.steps.run = first.run AND orchestrator.steps.execution_id = first.execution_id RETURNING orchestrator.steps.execution_id, orchestrator.steps.is_lost, first.run, first.flow_id, first.run_id, first.flow, first.definition, first.request_id, first.status, first.version, first.attempt, first.started_at, first.closed_at, first.is_latest

-- statement orders()
SELECT (SELECT string_agg(concat(orders.name, chr(31), orders.text, chr(31), orders.number), chr(30) ORDER BY orders.name, orders.text, orders.number) AS string_agg_1
FROM (SELECT orchestrator.pauses.flow AS name, orchestrator.pauses.step AS text, CAST(NULL AS BIGINT) AS number
FROM orchestrator.pauses UNION ALL SELECT orchestrator.queues.name AS name, orchestrator.queues.settings AS settings, orchestrator.queues.queue AS queue
FROM orchestrator.queues) AS orders) AS anon_1

-- statement demand_queues(queues, queues)
WITH held AS
(SELECT orchestrator.queues.queue AS queue
FROM orchestrator.queues
WHERE orchestrator.queues.queue = any(%s::BIGINT[]) FOR KEY SHARE)
 SELECT 1 / CASE WHEN ((SELECT count(*) AS count_1
FROM held) = cardinality(%s::BIGINT[])) THEN 1 ELSE 0 END AS anon_1

-- statement hold_queues(queues)
SELECT orchestrator.queues.queue, orchestrator.queues.spent_until
FROM orchestrator.queues
WHERE orchestrator.queues.queue = any(%s::BIGINT[]) ORDER BY orchestrator.queues.queue FOR NO KEY UPDATE SKIP LOCKED

-- statement keep_workers(workers)
SELECT orchestrator.workers.worker
FROM orchestrator.workers
WHERE orchestrator.workers.worker = any(%s::BIGINT[]) FOR KEY SHARE

-- statement demand(fence, workers, worker_count, orders)
SELECT 1 / CASE WHEN (pg_try_advisory_xact_lock(%s::BIGINT) AND (SELECT count(*) AS count_1
FROM (SELECT orchestrator.workers.worker AS worker
FROM orchestrator.workers
WHERE orchestrator.workers.worker = any(%s::BIGINT[]) FOR KEY SHARE) AS kept) = %s::BIGINT AND (SELECT string_agg(concat(orders.name, chr(31), orders.text, chr(31), orders.number), chr(30) ORDER BY orders.name, orders.text, orders.number) AS string_agg_1
FROM (SELECT orchestrator.pauses.flow AS name, orchestrator.pauses.step AS text, CAST(NULL AS BIGINT) AS number
FROM orchestrator.pauses UNION ALL SELECT orchestrator.queues.name AS name, orchestrator.queues.settings AS settings, orchestrator.queues.queue AS queue
FROM orchestrator.queues) AS orders) IS NOT DISTINCT FROM %s::VARCHAR) THEN 1 ELSE 0 END AS anon_1

-- statement demand_no_orders(fence, workers, worker_count)
SELECT 1 / CASE WHEN (pg_try_advisory_xact_lock(%s::BIGINT) AND (SELECT count(*) AS count_1
FROM (SELECT orchestrator.workers.worker AS worker
FROM orchestrator.workers
WHERE orchestrator.workers.worker = any(%s::BIGINT[]) FOR KEY SHARE) AS kept) = %s::BIGINT AND NOT (EXISTS (SELECT orchestrator.pauses.flow
FROM orchestrator.pauses)) AND NOT (EXISTS (SELECT orchestrator.queues.queue
FROM orchestrator.queues))) THEN 1 ELSE 0 END AS anon_1

-- statement fence(fence)
SELECT pg_try_advisory_lock(%s::BIGINT) AS pg_try_advisory_lock_1

-- statement lock_schema(lock)
SELECT pg_advisory_xact_lock(hashtext(%s::VARCHAR)) AS pg_advisory_xact_lock_1

-- statement has_table(schema, table)
SELECT EXISTS (SELECT *
FROM pg_catalog.pg_namespace, pg_catalog.pg_class
WHERE pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace AND pg_catalog.pg_namespace.nspname = %s::VARCHAR AND pg_catalog.pg_class.relname = %s::VARCHAR) AS anon_1

-- statement lock_projections(lock)
SELECT pg_advisory_xact_lock(hashtext(%s::VARCHAR)) AS pg_advisory_xact_lock_1

-- statement lock_runs(runs, flow_ids)
SELECT orchestrator.runs.run, orchestrator.runs.flow_id, orchestrator.runs.run_id, orchestrator.runs.flow, orchestrator.runs.definition, orchestrator.runs.request_id, orchestrator.runs.status, orchestrator.runs.version, orchestrator.runs.attempt, orchestrator.runs.started_at, orchestrator.runs.closed_at, orchestrator.runs.is_latest
FROM orchestrator.runs
WHERE orchestrator.runs.run = any(array_cat(%s::BIGINT[], array((SELECT orchestrator.runs.run
FROM orchestrator.runs
WHERE orchestrator.runs.flow_id = any(%s::TEXT[]) AND orchestrator.runs.is_latest = 1)))) ORDER BY orchestrator.runs.run FOR UPDATE

-- statement lock_runs_now(runs, flow_ids)
SELECT orchestrator.runs.run, orchestrator.runs.flow_id, orchestrator.runs.run_id, orchestrator.runs.flow, orchestrator.runs.definition, orchestrator.runs.request_id, orchestrator.runs.status, orchestrator.runs.version, orchestrator.runs.attempt, orchestrator.runs.started_at, orchestrator.runs.closed_at, orchestrator.runs.is_latest
FROM orchestrator.runs
WHERE orchestrator.runs.run = any(array_cat(%s::BIGINT[], array((SELECT orchestrator.runs.run
FROM orchestrator.runs
WHERE orchestrator.runs.flow_id = any(%s::TEXT[]) AND orchestrator.runs.is_latest = 1)))) ORDER BY orchestrator.runs.run FOR UPDATE NOWAIT

-- statement latest_of(flow_ids)
SELECT orchestrator.runs.flow_id, orchestrator.runs.run
FROM orchestrator.runs
WHERE orchestrator.runs.flow_id = any(%s::TEXT[]) AND orchestrator.runs.is_latest = 1

-- statement lock_runs_of_worker(holder)
SELECT orchestrator.runs.run, orchestrator.runs.flow_id, orchestrator.runs.run_id, orchestrator.runs.flow, orchestrator.runs.definition, orchestrator.runs.request_id, orchestrator.runs.status, orchestrator.runs.version, orchestrator.runs.attempt, orchestrator.runs.started_at, orchestrator.runs.closed_at, orchestrator.runs.is_latest
FROM orchestrator.runs
WHERE orchestrator.runs.run IN (SELECT orchestrator.steps.run
FROM orchestrator.steps
WHERE orchestrator.steps.worker = %s::BIGINT) ORDER BY orchestrator.runs.run FOR UPDATE

-- statement demand_definitions(hashes, hashes)
WITH known AS
(SELECT orchestrator.definitions.hash AS hash
FROM orchestrator.definitions
WHERE orchestrator.definitions.hash = any(%s::TEXT[]) FOR KEY SHARE)
 SELECT 1 / CASE WHEN ((SELECT count(*) AS count_1
FROM known) = cardinality(%s::TEXT[])) THEN 1 ELSE 0 END AS anon_1

-- statement demand_definition(hash)
WITH known AS
(SELECT orchestrator.definitions.hash AS hash
FROM orchestrator.definitions
WHERE orchestrator.definitions.hash = %s::VARCHAR FOR KEY SHARE)
 SELECT 1 / CASE WHEN ((SELECT count(*) AS count_1
FROM known) = 1) THEN 1 ELSE 0 END AS anon_1

-- statement run_numbers(sequence, count)
SELECT nextval(%s::VARCHAR) AS nextval_1
FROM generate_series(1, %s::BIGINT)

-- statement unused_definitions()
SELECT orchestrator.definitions.hash
FROM orchestrator.definitions
WHERE (EXISTS (SELECT *
FROM orchestrator.definitions AS successor
WHERE successor.flow = orchestrator.definitions.flow AND successor.stored_at > orchestrator.definitions.stored_at)) AND NOT (EXISTS (SELECT *
FROM orchestrator.runs
WHERE orchestrator.runs.flow = orchestrator.definitions.flow AND orchestrator.runs.definition = orchestrator.definitions.hash)) AND (orchestrator.definitions.hash NOT IN (SELECT orchestrator.projections.definition
FROM orchestrator.projections)) ORDER BY orchestrator.definitions.hash FOR UPDATE

-- statement used_bytes(schema)
SELECT coalesce(sum(pg_total_relation_size(pg_catalog.pg_class.oid)), 0) AS coalesce_1
FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
WHERE pg_catalog.pg_namespace.nspname = %s::VARCHAR AND pg_catalog.pg_class.relkind = 'r'

-- statement clock_time()
SELECT CAST(EXTRACT(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS anon_1

-- statement identity(table)
SELECT current_database() AS current_database_1, CAST(pg_postmaster_start_time() AS TEXT) AS pg_postmaster_start_time_1, CAST(CAST(to_regclass(%s::VARCHAR) AS OID) AS BIGINT) AS to_regclass_1

-- statement this_transaction()
SELECT CAST(pg_current_xact_id() AS TEXT) AS pg_current_xact_id_1

-- statement fate(transaction)
SELECT pg_xact_status(CAST(%s::VARCHAR AS XID8)) AS pg_xact_status_1

-- statement notify(channel, payload)
SELECT pg_notify(%s::VARCHAR, %s::VARCHAR) AS pg_notify_1

-- statement each_rows_of_run(runs, flow_ids)
WITH wanted AS
(SELECT unnest(%s::BIGINT[]) AS run UNION ALL SELECT orchestrator.runs.run AS run
FROM orchestrator.runs
WHERE orchestrator.runs.flow_id = any(%s::TEXT[]) AND orchestrator.runs.is_latest = 1)
 SELECT orchestrator.runs.run, 0, orchestrator.runs.run AS run__1, CAST(NULL AS TEXT) AS anon_1, CAST(NULL AS TEXT) AS anon__1, CAST(NULL AS BIGINT) AS anon__2, orchestrator.runs.input, orchestrator.runs.state, orchestrator.runs.error
FROM orchestrator.runs
WHERE orchestrator.runs.run = any(array((SELECT wanted.run
FROM wanted))) UNION ALL SELECT orchestrator.steps.run, 1, rowid, orchestrator.steps.execution_id, NULL AS anon_1, orchestrator.steps.worker, orchestrator.steps.body, NULL AS anon__3, NULL AS anon__4
FROM orchestrator.steps
WHERE orchestrator.steps.run = any(array((SELECT wanted.run
FROM wanted))) UNION ALL SELECT orchestrator.messages.run, 2, orchestrator.messages.seq, orchestrator.messages.channel, orchestrator.messages.key, NULL AS anon_1, orchestrator.messages.value, NULL AS anon__3, NULL AS anon__4
FROM orchestrator.messages
WHERE orchestrator.messages.run = any(array((SELECT wanted.run
FROM wanted))) UNION ALL SELECT orchestrator.attributes.run, 3, rowid, orchestrator.attributes.name, orchestrator.attributes.key, orchestrator.attributes.is_map, orchestrator.attributes.value, NULL AS anon_1, NULL AS anon__3
FROM orchestrator.attributes
WHERE orchestrator.attributes.run = any(array((SELECT wanted.run
FROM wanted))) UNION ALL SELECT orchestrator.rounds.run, 4, rowid, NULL AS anon_1, NULL AS anon__3, NULL AS anon__4, NULL AS anon__5, NULL AS anon__6, NULL AS anon__7
FROM orchestrator.rounds
WHERE orchestrator.rounds.run = any(array((SELECT wanted.run
FROM wanted))) UNION ALL SELECT orchestrator.outputs.run, 5, orchestrator.outputs.position, NULL AS anon_1, NULL AS anon__3, NULL AS anon__4, orchestrator.outputs.body, NULL AS anon__5, NULL AS anon__6
FROM orchestrator.outputs
WHERE orchestrator.outputs.run = any(array((SELECT wanted.run
FROM wanted)))

-- statement each_history_of(runs, after_versions)
SELECT orchestrator.history.run, orchestrator.history.version, orchestrator.history.at, orchestrator.history.kind, orchestrator.history.execution_id, orchestrator.history.body, orchestrator.history.event
FROM orchestrator.history, unnest(%s::BIGINT[], %s::BIGINT[]) AS v(run, version)
WHERE orchestrator.history.run = v.run AND orchestrator.history.version > v.version ORDER BY orchestrator.history.run, orchestrator.history.version

-- statement bulk_insert_run(run, flow_id, is_latest, run_id, flow, definition, request_id, status, version, attempt, started_at, closed_at, input, state, error)
INSERT INTO orchestrator.runs (run, flow_id, is_latest, run_id, flow, definition, request_id, status, version, attempt, started_at, closed_at, input, state, error) SELECT v.run, v.flow_id, v.is_latest, v.run_id, v.flow, v.definition, v.request_id, v.status, v.version, v.attempt, v.started_at, v.closed_at, v.input, v.state, v.error
FROM unnest(%s::BIGINT[], %s::TEXT[], %s::SMALLINT[], %s::TEXT[], %s::TEXT[], %s::TEXT[], %s::TEXT[], %s::TEXT[], %s::INTEGER[], %s::INTEGER[], %s::BIGINT[], %s::BIGINT[], %s::BYTEA[], %s::BYTEA[], %s::BYTEA[]) AS v(run, flow_id, is_latest, run_id, flow, definition, request_id, status, version, attempt, started_at, closed_at, input, state, error)

-- statement bulk_update_run(version, state, of_run, from_version, expected)
WITH v AS
(SELECT v.version AS version, v.state AS state, v.of_run AS of_run, v.from_version AS from_version
FROM unnest(%s::INTEGER[], %s::BYTEA[], %s::BIGINT[], %s::INTEGER[]) AS v(version, state, of_run, from_version)),
found AS
(UPDATE orchestrator.runs SET version=v.version, state=v.state FROM v WHERE orchestrator.runs.run = any(array((SELECT v.of_run
FROM v))) AND orchestrator.runs.run = v.of_run AND orchestrator.runs.version = v.from_version RETURNING 1)
 SELECT 1 / CASE WHEN ((SELECT count(*) AS count_1
FROM found) = %s::BIGINT) THEN 1 ELSE 0 END AS anon_1

-- statement bulk_close_run(status, version, attempt, closed_at, state, error, of_run, from_version, expected)
WITH v AS
(SELECT v.status AS status, v.version AS version, v.attempt AS attempt, v.closed_at AS closed_at, v.state AS state, v.error AS error, v.of_run AS of_run, v.from_version AS from_version
FROM unnest(%s::TEXT[], %s::INTEGER[], %s::INTEGER[], %s::BIGINT[], %s::BYTEA[], %s::BYTEA[], %s::BIGINT[], %s::INTEGER[]) AS v(status, version, attempt, closed_at, state, error, of_run, from_version)),
found AS
(UPDATE orchestrator.runs SET status=v.status, version=v.version, attempt=v.attempt, closed_at=v.closed_at, state=v.state, error=v.error FROM v WHERE orchestrator.runs.run = any(array((SELECT v.of_run
FROM v))) AND orchestrator.runs.run = v.of_run AND orchestrator.runs.version = v.from_version RETURNING 1)
 SELECT 1 / CASE WHEN ((SELECT count(*) AS count_1
FROM found) = %s::BIGINT) THEN 1 ELSE 0 END AS anon_1

-- statement bulk_insert_step(run, execution_id, step, phase, attempt, due_at, worker, body)
INSERT INTO orchestrator.steps (run, execution_id, step, phase, attempt, due_at, worker, body, is_lost) SELECT v.run, v.execution_id, v.step, v.phase, v.attempt, v.due_at, v.worker, v.body, 0
FROM unnest(%s::BIGINT[], %s::TEXT[], %s::TEXT[], %s::TEXT[], %s::INTEGER[], %s::BIGINT[], %s::BIGINT[], %s::BYTEA[]) AS v(run, execution_id, step, phase, attempt, due_at, worker, body)

-- statement bulk_update_step(phase, attempt, due_at, worker, body, of_run, of_execution)
WITH v AS
(SELECT v.phase AS phase, v.attempt AS attempt, v.due_at AS due_at, v.worker AS worker, v.body AS body, v.of_run AS of_run, v.of_execution AS of_execution
FROM unnest(%s::TEXT[], %s::INTEGER[], %s::BIGINT[], %s::BIGINT[], %s::BYTEA[], %s::BIGINT[], %s::TEXT[]) AS v(phase, attempt, due_at, worker, body, of_run, of_execution))
 UPDATE orchestrator.steps SET phase=v.phase, attempt=v.attempt, due_at=v.due_at, worker=v.worker, is_lost=0, body=v.body FROM v WHERE orchestrator.steps.run = any(array((SELECT v.of_run
FROM v))) AND orchestrator.steps.run = v.of_run AND orchestrator.steps.execution_id = v.of_execution

-- statement bulk_insert_queued_step(run, execution_id, step, phase, attempt, due_at, worker, body, turn, queue, of_queue)
WITH v AS
(SELECT v.run AS run, v.execution_id AS execution_id, v.step AS step, v.phase AS phase, v.attempt AS attempt, v.due_at AS due_at, v.worker AS worker, v.body AS body, v.turn AS turn
FROM unnest(%s::BIGINT[], %s::TEXT[], %s::TEXT[], %s::TEXT[], %s::INTEGER[], %s::BIGINT[], %s::BIGINT[], %s::BYTEA[], %s::BIGINT[]) AS v(run, execution_id, step, phase, attempt, due_at, worker, body, turn))
 INSERT INTO orchestrator.steps (run, execution_id, step, phase, attempt, due_at, worker, body, queue, is_lost, turn) SELECT v.run, v.execution_id, v.step, v.phase, v.attempt, v.due_at, v.worker, v.body, %s::INTEGER AS anon_1, 0, (SELECT coalesce(min(waiting.turn) + 1, 0) AS coalesce_1
FROM orchestrator.steps AS waiting
WHERE waiting.queue = %s::INTEGER AND waiting.worker IS NULL AND waiting.turn IS NOT NULL) + v.turn AS anon_2
FROM v

-- statement bulk_update_queued_step(phase, attempt, due_at, worker, body, turn, of_run, of_execution, queue, of_queue)
WITH v AS
(SELECT v.phase AS phase, v.attempt AS attempt, v.due_at AS due_at, v.worker AS worker, v.body AS body, v.turn AS turn, v.of_run AS of_run, v.of_execution AS of_execution
FROM unnest(%s::TEXT[], %s::INTEGER[], %s::BIGINT[], %s::BIGINT[], %s::BYTEA[], %s::BIGINT[], %s::BIGINT[], %s::TEXT[]) AS v(phase, attempt, due_at, worker, body, turn, of_run, of_execution))
 UPDATE orchestrator.steps SET phase=v.phase, attempt=v.attempt, due_at=v.due_at, worker=v.worker, is_lost=0, body=v.body, queue=%s::INTEGER, turn=((SELECT coalesce(min(waiting.turn) + 1, 0) AS coalesce_1
FROM orchestrator.steps AS waiting
WHERE waiting.queue = %s::INTEGER AND waiting.worker IS NULL AND waiting.turn IS NOT NULL) + v.turn) FROM v WHERE orchestrator.steps.run = any(array((SELECT v.of_run
FROM v))) AND orchestrator.steps.run = v.of_run AND orchestrator.steps.execution_id = v.of_execution

-- statement bulk_delete_step(of_run, of_execution)
WITH v AS
(SELECT v.of_run AS of_run, v.of_execution AS of_execution
FROM unnest(%s::BIGINT[], %s::TEXT[]) AS v(of_run, of_execution))
 DELETE FROM orchestrator.steps USING v WHERE orchestrator.steps.run = any(array((SELECT v.of_run
FROM v))) AND orchestrator.steps.run = v.of_run AND orchestrator.steps.execution_id = v.of_execution

-- statement bulk_delete_steps(of_run)
WITH v AS
(SELECT v.of_run AS of_run
FROM unnest(%s::BIGINT[]) AS v(of_run))
 DELETE FROM orchestrator.steps USING v WHERE orchestrator.steps.run = any(array((SELECT v.of_run
FROM v))) AND orchestrator.steps.run = v.of_run

-- statement bulk_insert_message(run, seq, channel, key, value)
INSERT INTO orchestrator.messages (run, seq, channel, key, value) SELECT v.run, v.seq, v.channel, v.key, v.value
FROM unnest(%s::BIGINT[], %s::BIGINT[], %s::TEXT[], %s::TEXT[], %s::BYTEA[]) AS v(run, seq, channel, key, value)

-- statement bulk_delete_message(of_run, of_seq)
WITH v AS
(SELECT v.of_run AS of_run, v.of_seq AS of_seq
FROM unnest(%s::BIGINT[], %s::BIGINT[]) AS v(of_run, of_seq))
 DELETE FROM orchestrator.messages USING v WHERE orchestrator.messages.run = any(array((SELECT v.of_run
FROM v))) AND orchestrator.messages.run = v.of_run AND orchestrator.messages.seq = v.of_seq

-- statement bulk_insert_output(run, position, body)
INSERT INTO orchestrator.outputs (run, position, body) SELECT v.run, v.position, v.body
FROM unnest(%s::BIGINT[], %s::INTEGER[], %s::BYTEA[]) AS v(run, position, body)

-- statement bulk_insert_report(run, round, position, branch, value)
INSERT INTO orchestrator.reports (run, round, position, branch, value) SELECT v.run, v.round, v.position, v.branch, v.value
FROM unnest(%s::BIGINT[], %s::TEXT[], %s::INTEGER[], %s::INTEGER[], %s::BYTEA[]) AS v(run, round, position, branch, value)

-- statement bulk_insert_history(run, version, at, kind, execution_id, body, event)
INSERT INTO orchestrator.history (run, version, at, kind, execution_id, body, event) SELECT v.run, v.version, v.at, v.kind, v.execution_id, v.body, v.event
FROM unnest(%s::BIGINT[], %s::INTEGER[], %s::BIGINT[], %s::TEXT[], %s::TEXT[], %s::BYTEA[], %s::BYTEA[]) AS v(run, version, at, kind, execution_id, body, event)

-- statement begin(hash, run, flow_id, is_latest, run_id, flow, definition, request_id, status, version, attempt, started_at, closed_at, input, state, error, run, execution_id, step, phase, attempt, due_at, worker, body, run, version, at, kind, execution_id, body, event)
WITH known AS
(SELECT orchestrator.definitions.hash AS hash
FROM orchestrator.definitions
WHERE orchestrator.definitions.hash = %s::VARCHAR FOR KEY SHARE),
insert_run AS
(INSERT INTO orchestrator.runs (run, flow_id, is_latest, run_id, flow, definition, request_id, status, version, attempt, started_at, closed_at, input, state, error) VALUES (%s::BIGINT, %s::VARCHAR, %s::SMALLINT, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::INTEGER, %s::INTEGER, %s::BIGINT, %s::BIGINT, %s, %s, %s)),
insert_step AS
(INSERT INTO orchestrator.steps (run, execution_id, step, phase, attempt, due_at, worker, is_lost, body) VALUES (%s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::INTEGER, %s::BIGINT, %s::BIGINT, 0, %s)),
insert_history AS
(INSERT INTO orchestrator.history (run, version, at, kind, execution_id, body, event) VALUES (%s::BIGINT, %s::INTEGER, %s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s, %s))
 SELECT 1 / CASE WHEN ((SELECT count(*) AS count_1
FROM known) = 1) THEN 1 ELSE 0 END AS anon_1

-- statement advance(version, state, of_run, from_version, of_run, of_execution, run, execution_id, step, phase, attempt, due_at, worker, body, run, version, at, kind, execution_id, body, event)
WITH found AS
(UPDATE orchestrator.runs SET version=%s::INTEGER, state=%s WHERE orchestrator.runs.run = %s::BIGINT AND orchestrator.runs.version = %s::INTEGER RETURNING 1),
delete_step AS
(DELETE FROM orchestrator.steps WHERE orchestrator.steps.run = %s::BIGINT AND orchestrator.steps.execution_id = %s::VARCHAR),
insert_step AS
(INSERT INTO orchestrator.steps (run, execution_id, step, phase, attempt, due_at, worker, is_lost, body) VALUES (%s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::INTEGER, %s::BIGINT, %s::BIGINT, 0, %s)),
insert_history AS
(INSERT INTO orchestrator.history (run, version, at, kind, execution_id, body, event) VALUES (%s::BIGINT, %s::INTEGER, %s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s, %s))
 SELECT 1 / CASE WHEN ((SELECT count(*) AS count_1
FROM found) = 1) THEN 1 ELSE 0 END AS anon_1

-- statement finish(status, version, attempt, closed_at, state, error, of_run, from_version, of_run, run, version, at, kind, execution_id, body, event)
WITH found AS
(UPDATE orchestrator.runs SET status=%s::VARCHAR, version=%s::INTEGER, attempt=%s::INTEGER, closed_at=%s::BIGINT, state=%s, error=%s WHERE orchestrator.runs.run = %s::BIGINT AND orchestrator.runs.version = %s::INTEGER RETURNING 1),
delete_steps AS
(DELETE FROM orchestrator.steps WHERE orchestrator.steps.run = %s::BIGINT),
insert_history AS
(INSERT INTO orchestrator.history (run, version, at, kind, execution_id, body, event) VALUES (%s::BIGINT, %s::INTEGER, %s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s, %s))
 SELECT 1 / CASE WHEN ((SELECT count(*) AS count_1
FROM found) = 1) THEN 1 ELSE 0 END AS anon_1

-- statement finish_and_ring(status, version, attempt, closed_at, state, error, of_run, from_version, of_run, run, version, at, kind, execution_id, body, event, channel, payload)
WITH found AS
(UPDATE orchestrator.runs SET status=%s::VARCHAR, version=%s::INTEGER, attempt=%s::INTEGER, closed_at=%s::BIGINT, state=%s, error=%s WHERE orchestrator.runs.run = %s::BIGINT AND orchestrator.runs.version = %s::INTEGER RETURNING 1),
delete_steps AS
(DELETE FROM orchestrator.steps WHERE orchestrator.steps.run = %s::BIGINT),
insert_history AS
(INSERT INTO orchestrator.history (run, version, at, kind, execution_id, body, event) VALUES (%s::BIGINT, %s::INTEGER, %s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s, %s)),
notify AS
(SELECT pg_notify(%s::VARCHAR, %s::VARCHAR) AS pg_notify_1)
 SELECT 1 / CASE WHEN ((SELECT count(*) AS count_1
FROM found) = 1) THEN 1 ELSE 0 END AS anon_1
FROM notify

-- statement trusting_begin(hash, run, flow_id, is_latest, run_id, flow, definition, request_id, status, version, attempt, started_at, closed_at, input, state, error, run, execution_id, step, phase, attempt, due_at, worker, body, run, version, at, kind, execution_id, body, event, fence, workers, worker_count)
WITH known AS
(SELECT orchestrator.definitions.hash AS hash
FROM orchestrator.definitions
WHERE orchestrator.definitions.hash = %s::VARCHAR FOR KEY SHARE),
insert_run AS
(INSERT INTO orchestrator.runs (run, flow_id, is_latest, run_id, flow, definition, request_id, status, version, attempt, started_at, closed_at, input, state, error) VALUES (%s::BIGINT, %s::VARCHAR, %s::SMALLINT, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::INTEGER, %s::INTEGER, %s::BIGINT, %s::BIGINT, %s, %s, %s)),
insert_step AS
(INSERT INTO orchestrator.steps (run, execution_id, step, phase, attempt, due_at, worker, is_lost, body) VALUES (%s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::INTEGER, %s::BIGINT, %s::BIGINT, 0, %s)),
insert_history AS
(INSERT INTO orchestrator.history (run, version, at, kind, execution_id, body, event) VALUES (%s::BIGINT, %s::INTEGER, %s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s, %s))
 SELECT 1 / CASE WHEN (pg_try_advisory_xact_lock(%s::BIGINT) AND (SELECT count(*) AS count_1
FROM (SELECT orchestrator.workers.worker AS worker
FROM orchestrator.workers
WHERE orchestrator.workers.worker = any(%s::BIGINT[]) FOR KEY SHARE) AS kept) = %s::BIGINT AND NOT (EXISTS (SELECT orchestrator.pauses.flow
FROM orchestrator.pauses)) AND NOT (EXISTS (SELECT orchestrator.queues.queue
FROM orchestrator.queues))) THEN CASE WHEN ((SELECT count(*) AS count_1
FROM known) = 1) THEN 1 ELSE 0 END ELSE 0 END AS anon_1

-- statement trusting_advance(version, state, of_run, from_version, of_run, of_execution, run, execution_id, step, phase, attempt, due_at, worker, body, run, version, at, kind, execution_id, body, event, fence, workers, worker_count)
WITH found AS
(UPDATE orchestrator.runs SET version=%s::INTEGER, state=%s WHERE orchestrator.runs.run = %s::BIGINT AND orchestrator.runs.version = %s::INTEGER RETURNING 1),
delete_step AS
(DELETE FROM orchestrator.steps WHERE orchestrator.steps.run = %s::BIGINT AND orchestrator.steps.execution_id = %s::VARCHAR),
insert_step AS
(INSERT INTO orchestrator.steps (run, execution_id, step, phase, attempt, due_at, worker, is_lost, body) VALUES (%s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s::VARCHAR, %s::INTEGER, %s::BIGINT, %s::BIGINT, 0, %s)),
insert_history AS
(INSERT INTO orchestrator.history (run, version, at, kind, execution_id, body, event) VALUES (%s::BIGINT, %s::INTEGER, %s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s, %s))
 SELECT 1 / CASE WHEN (pg_try_advisory_xact_lock(%s::BIGINT) AND (SELECT count(*) AS count_1
FROM (SELECT orchestrator.workers.worker AS worker
FROM orchestrator.workers
WHERE orchestrator.workers.worker = any(%s::BIGINT[]) FOR KEY SHARE) AS kept) = %s::BIGINT AND NOT (EXISTS (SELECT orchestrator.pauses.flow
FROM orchestrator.pauses)) AND NOT (EXISTS (SELECT orchestrator.queues.queue
FROM orchestrator.queues))) THEN CASE WHEN ((SELECT count(*) AS count_1
FROM found) = 1) THEN 1 ELSE 0 END ELSE 0 END AS anon_1

-- statement trusting_finish(status, version, attempt, closed_at, state, error, of_run, from_version, of_run, run, version, at, kind, execution_id, body, event, fence, workers, worker_count)
WITH found AS
(UPDATE orchestrator.runs SET status=%s::VARCHAR, version=%s::INTEGER, attempt=%s::INTEGER, closed_at=%s::BIGINT, state=%s, error=%s WHERE orchestrator.runs.run = %s::BIGINT AND orchestrator.runs.version = %s::INTEGER RETURNING 1),
delete_steps AS
(DELETE FROM orchestrator.steps WHERE orchestrator.steps.run = %s::BIGINT),
insert_history AS
(INSERT INTO orchestrator.history (run, version, at, kind, execution_id, body, event) VALUES (%s::BIGINT, %s::INTEGER, %s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s, %s))
 SELECT 1 / CASE WHEN (pg_try_advisory_xact_lock(%s::BIGINT) AND (SELECT count(*) AS count_1
FROM (SELECT orchestrator.workers.worker AS worker
FROM orchestrator.workers
WHERE orchestrator.workers.worker = any(%s::BIGINT[]) FOR KEY SHARE) AS kept) = %s::BIGINT AND NOT (EXISTS (SELECT orchestrator.pauses.flow
FROM orchestrator.pauses)) AND NOT (EXISTS (SELECT orchestrator.queues.queue
FROM orchestrator.queues))) THEN CASE WHEN ((SELECT count(*) AS count_1
FROM found) = 1) THEN 1 ELSE 0 END ELSE 0 END AS anon_1

-- statement trusting_finish_and_ring(status, version, attempt, closed_at, state, error, of_run, from_version, of_run, run, version, at, kind, execution_id, body, event, channel, payload, fence, workers, worker_count)
WITH found AS
(UPDATE orchestrator.runs SET status=%s::VARCHAR, version=%s::INTEGER, attempt=%s::INTEGER, closed_at=%s::BIGINT, state=%s, error=%s WHERE orchestrator.runs.run = %s::BIGINT AND orchestrator.runs.version = %s::INTEGER RETURNING 1),
delete_steps AS
(DELETE FROM orchestrator.steps WHERE orchestrator.steps.run = %s::BIGINT),
insert_history AS
(INSERT INTO orchestrator.history (run, version, at, kind, execution_id, body, event) VALUES (%s::BIGINT, %s::INTEGER, %s::BIGINT, %s::VARCHAR, %s::VARCHAR, %s, %s)),
notify AS
(SELECT pg_notify(%s::VARCHAR, %s::VARCHAR) AS pg_notify_1)
 SELECT 1 / CASE WHEN (pg_try_advisory_xact_lock(%s::BIGINT) AND (SELECT count(*) AS count_1
FROM (SELECT orchestrator.workers.worker AS worker
FROM orchestrator.workers
WHERE orchestrator.workers.worker = any(%s::BIGINT[]) FOR KEY SHARE) AS kept) = %s::BIGINT AND NOT (EXISTS (SELECT orchestrator.pauses.flow
FROM orchestrator.pauses)) AND NOT (EXISTS (SELECT orchestrator.queues.queue
FROM orchestrator.queues))) THEN CASE WHEN ((SELECT count(*) AS count_1
FROM found) = 1) THEN 1 ELSE 0 END ELSE 0 END AS anon_1
FROM notify
