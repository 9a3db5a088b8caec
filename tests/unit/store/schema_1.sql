-- The tables as schema version 1 had them.
CREATE TABLE attributes (
	run BIGINT NOT NULL,
	name TEXT NOT NULL,
	is_map SMALLINT NOT NULL,
	"key" TEXT NOT NULL,
	value BLOB NOT NULL
);
CREATE UNIQUE INDEX attributes_identity ON attributes (run, name, "key");
CREATE TABLE definitions (
	hash TEXT NOT NULL,
	flow TEXT NOT NULL,
	path TEXT NOT NULL,
	text TEXT NOT NULL,
	stored_at BIGINT NOT NULL,
	PRIMARY KEY (hash)
);
CREATE TABLE history (
	run BIGINT NOT NULL,
	version INTEGER NOT NULL,
	at BIGINT NOT NULL,
	kind TEXT NOT NULL,
	execution_id TEXT,
	body BLOB NOT NULL
);
CREATE UNIQUE INDEX history_identity ON history (run, version);
CREATE TABLE messages (
	run BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	channel TEXT NOT NULL,
	"key" TEXT,
	value BLOB NOT NULL
);
CREATE UNIQUE INDEX messages_identity ON messages (run, seq);
CREATE TABLE outputs (
	run BIGINT NOT NULL,
	position INTEGER NOT NULL,
	body BLOB NOT NULL
);
CREATE UNIQUE INDEX outputs_identity ON outputs (run, position);
CREATE TABLE reports (
	run BIGINT NOT NULL,
	round TEXT NOT NULL,
	position INTEGER NOT NULL,
	branch INTEGER NOT NULL,
	value BLOB NOT NULL
);
CREATE UNIQUE INDEX reports_identity ON reports (run, round, position);
CREATE TABLE rounds (
	run BIGINT NOT NULL,
	round TEXT NOT NULL,
	"join" TEXT NOT NULL,
	branch_count INTEGER NOT NULL,
	counting INTEGER NOT NULL,
	missed INTEGER NOT NULL,
	members INTEGER NOT NULL,
	is_cancelled SMALLINT NOT NULL
);
CREATE UNIQUE INDEX rounds_identity ON rounds (run, round);
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
);
CREATE UNIQUE INDEX runs_latest ON runs (flow_id) WHERE is_latest = 1;
CREATE TABLE schema_version (
	version INTEGER NOT NULL,
	installed_at BIGINT NOT NULL,
	PRIMARY KEY (version)
);
CREATE TABLE steps (
	run BIGINT NOT NULL,
	execution_id TEXT NOT NULL,
	step TEXT NOT NULL,
	phase TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	due_at BIGINT,
	worker BIGINT,
	is_lost SMALLINT NOT NULL,
	body BLOB NOT NULL
);
CREATE INDEX steps_claimable ON steps (due_at) WHERE worker IS NULL AND due_at IS NOT NULL;
CREATE UNIQUE INDEX steps_identity ON steps (run, execution_id);
CREATE TABLE workers (
	worker INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	alive_until BIGINT NOT NULL,
	host TEXT NOT NULL,
	pid INTEGER NOT NULL,
	process_started TEXT NOT NULL
);
