-- The steps by which the tables came to be, and what two of them ask on the way; {p} is the schema. Never changed.

-- ledger: the steps that were applied
CREATE TABLE {p}schema_migrations ("version" INTEGER PRIMARY KEY, "applied" TEXT NOT NULL, "library" TEXT NOT NULL)

-- runs: an index entry of PostgreSQL holds at most 2.7 kB and an id can be longer, hence substr
CREATE TABLE {p}runs (
    "id" TEXT PRIMARY KEY, "name" TEXT NOT NULL, "created" TEXT NOT NULL, "finished" TEXT, "status" TEXT NOT NULL,
    "metric" TEXT NOT NULL, "decomposer" TEXT NOT NULL, "verifier" TEXT NOT NULL, "strategy" TEXT NOT NULL,
    "version" TEXT NOT NULL, "parameters" TEXT NOT NULL, "config" TEXT NOT NULL, "config_fingerprint" TEXT NOT NULL,
    "dataset" TEXT NOT NULL, "dataset_fingerprint" TEXT NOT NULL, "total" BIGINT, "counts" TEXT
);
CREATE TABLE {p}samples (
    "run_id" TEXT NOT NULL, "position" BIGINT NOT NULL, "fingerprint" TEXT NOT NULL, "sample_id" TEXT NOT NULL,
    "question" TEXT NOT NULL, "response" TEXT NOT NULL, "contexts" TEXT NOT NULL, "reference" TEXT,
    "tags" TEXT NOT NULL, "model" TEXT, "release" TEXT, "timestamp" TEXT, "outcome" TEXT NOT NULL,
    "score" DOUBLE PRECISION, "reason" TEXT NOT NULL, "result" TEXT NOT NULL, PRIMARY KEY ("run_id", "position")
);
CREATE INDEX samples_outcome ON {p}samples ("run_id", "outcome");
CREATE INDEX samples_id ON {p}samples ("run_id", substr("sample_id", 1, 64));
CREATE TABLE {p}claims (
    "run_id" TEXT NOT NULL, "position" BIGINT NOT NULL, "ordinal" INTEGER NOT NULL, "claim_id" TEXT NOT NULL,
    "text" TEXT NOT NULL, "span_start" BIGINT NOT NULL, "span_end" BIGINT NOT NULL, "sentence" TEXT NOT NULL,
    "label" TEXT NOT NULL, "supported" DOUBLE PRECISION, "unsupported" DOUBLE PRECISION,
    "contradicted" DOUBLE PRECISION, "conflict" BOOLEAN NOT NULL, "failure_mode" TEXT, "judge" TEXT NOT NULL,
    "evidence" TEXT NOT NULL, PRIMARY KEY ("run_id", "position", "ordinal")
);
CREATE INDEX claims_label ON {p}claims ("run_id", "label");
CREATE TABLE {p}tags (
    "run_id" TEXT NOT NULL, "position" BIGINT NOT NULL, "ordinal" INTEGER NOT NULL, "name" TEXT NOT NULL,
    "value" TEXT NOT NULL, PRIMARY KEY ("run_id", "position", "ordinal")
)

-- labels
CREATE TABLE {p}labels (
    "id" TEXT PRIMARY KEY, "run_id" TEXT NOT NULL, "position" BIGINT NOT NULL, "sample_id" TEXT NOT NULL,
    "claim_id" TEXT NOT NULL, "label" TEXT NOT NULL, "annotator" TEXT NOT NULL, "note" TEXT NOT NULL,
    "created" TEXT NOT NULL
);
CREATE INDEX labels_place ON {p}labels ("run_id", "position")

-- reading: what became of the rows of the data set; NULL: not known
ALTER TABLE {p}runs ADD COLUMN "reading" TEXT

-- labels_of_texts
CREATE TABLE {p}labels_2 (
    "claim_key" TEXT NOT NULL, "annotator" TEXT NOT NULL, "answer_key" TEXT NOT NULL, "span_start" BIGINT,
    "span_end" BIGINT, "label" TEXT NOT NULL, "failure_mode" TEXT, "note" TEXT NOT NULL, "chosen" TEXT NOT NULL,
    "run_id" TEXT NOT NULL, "created" TEXT NOT NULL, PRIMARY KEY ("claim_key", "annotator")
);
CREATE INDEX labels_2_answer ON {p}labels_2 ("answer_key");
ALTER TABLE {p}samples ADD COLUMN "answer_key" TEXT;
CREATE INDEX samples_answer ON {p}samples ("run_id", "answer_key")

-- labelling
ALTER TABLE {p}labels_2 ADD COLUMN "evidence" TEXT;
CREATE TABLE {p}marks (
    "claim_key" TEXT NOT NULL, "annotator" TEXT NOT NULL, "answer_key" TEXT NOT NULL, "span_start" BIGINT,
    "span_end" BIGINT, "mark" TEXT NOT NULL, "note" TEXT NOT NULL, "chosen" TEXT NOT NULL, "run_id" TEXT NOT NULL,
    "created" TEXT NOT NULL, PRIMARY KEY ("claim_key", "annotator")
);
CREATE INDEX marks_answer ON {p}marks ("answer_key");
CREATE TABLE {p}queues (
    "id" TEXT PRIMARY KEY, "run_id" TEXT NOT NULL, "name" TEXT NOT NULL, "chosen" TEXT NOT NULL,
    "answers" BOOLEAN NOT NULL, "annotators" TEXT NOT NULL, "overlap" DOUBLE PRECISION NOT NULL, "created" TEXT NOT NULL
);
CREATE INDEX queues_run ON {p}queues ("run_id");
CREATE TABLE {p}queue_items (
    "queue_id" TEXT NOT NULL, "annotator" TEXT NOT NULL, "place" BIGINT NOT NULL, "position" BIGINT NOT NULL,
    "ordinal" INTEGER NOT NULL, "claim_key" TEXT NOT NULL, "skipped" BIGINT,
    PRIMARY KEY ("queue_id", "annotator", "place")
);
CREATE TABLE {p}label_history (
    "id" TEXT PRIMARY KEY, "number" BIGINT NOT NULL, "annotator" TEXT NOT NULL, "actor" TEXT NOT NULL,
    "run_id" TEXT NOT NULL, "queue_id" TEXT NOT NULL, "claim_key" TEXT NOT NULL, "answer_key" TEXT NOT NULL,
    "action" TEXT NOT NULL, "before" TEXT NOT NULL, "after" TEXT NOT NULL, "undone" TEXT, "created" TEXT NOT NULL
);
CREATE INDEX label_history_annotator ON {p}label_history ("annotator", "number");
CREATE INDEX label_history_key ON {p}label_history ("claim_key")

-- watches
CREATE TABLE {p}watches ("watch" TEXT PRIMARY KEY, "checkpoint" TEXT, "alarms" TEXT, "updated" TEXT NOT NULL);
CREATE TABLE {p}watched (
    "watch" TEXT NOT NULL, "answer" TEXT NOT NULL, "day" TEXT NOT NULL, "decision" TEXT NOT NULL,
    "chosen" TEXT NOT NULL, "run_id" TEXT, "position" BIGINT, "tokens" BIGINT NOT NULL, "cost" DOUBLE PRECISION,
    "back" TEXT NOT NULL, "about" TEXT NOT NULL, "tries" INTEGER NOT NULL, "tried" DOUBLE PRECISION NOT NULL,
    PRIMARY KEY ("watch", "answer")
);
CREATE INDEX watched_day ON {p}watched ("watch", "day");
CREATE INDEX watched_back ON {p}watched ("watch", "back");
CREATE TABLE {p}watched_spans (
    "watch" TEXT NOT NULL, "trace" TEXT NOT NULL, "span" TEXT NOT NULL, "received" DOUBLE PRECISION NOT NULL,
    "body" TEXT NOT NULL, PRIMARY KEY ("watch", "trace", "span")
)

-- conversations
ALTER TABLE {p}samples ADD COLUMN "conversation" TEXT

-- probability
ALTER TABLE {p}samples ADD COLUMN "probability" DOUBLE PRECISION

-- results
SELECT "run_id", "position", "result" FROM {p}samples
WHERE ("run_id", "position") > (:run, :position) ORDER BY "run_id", "position" LIMIT 256

-- rate
UPDATE {p}samples SET "probability" = :probability WHERE "run_id" = :run AND "position" = :position

-- samples
SELECT "run_id", "position", "response", "contexts" FROM {p}samples
WHERE ("run_id", "position") > (:run, :position) ORDER BY "run_id", "position" LIMIT 256

-- name
UPDATE {p}samples SET "answer_key" = :key WHERE "run_id" = :run AND "position" = :position

-- labelled
SELECT l."id", l."annotator", l."label", l."note", l."run_id", l."created",
    s."answer_key", c."text", c."span_start", c."span_end"
FROM {p}labels l
JOIN {p}samples s ON s."run_id" = l."run_id" AND s."position" = l."position"
JOIN {p}claims c ON c."run_id" = l."run_id" AND c."position" = l."position" AND c."claim_id" = l."claim_id"
ORDER BY l."created"

-- move
INSERT INTO {p}labels_2 VALUES (
    :claim_key, :annotator, :answer_key, :span_start, :span_end, :label, NULL, :note, '', :run_id, :created
)
