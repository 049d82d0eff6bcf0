-- A store as the first schema made it. Never regenerate this file: it stands for files out there.
BEGIN TRANSACTION;
CREATE TABLE claims (
    "run_id" TEXT NOT NULL, "position" BIGINT NOT NULL, "ordinal" INTEGER NOT NULL, "claim_id" TEXT NOT NULL,
    "text" TEXT NOT NULL, "span_start" BIGINT NOT NULL, "span_end" BIGINT NOT NULL, "sentence" TEXT NOT NULL,
    "label" TEXT NOT NULL, "supported" DOUBLE PRECISION, "unsupported" DOUBLE PRECISION,
    "contradicted" DOUBLE PRECISION, "conflict" BOOLEAN NOT NULL, "failure_mode" TEXT, "judge" TEXT NOT NULL,
    "evidence" TEXT NOT NULL, PRIMARY KEY ("run_id", "position", "ordinal")
);
INSERT INTO "claims" VALUES('1232c4124610',0,0,'c1','Tea is hot.',0,11,'Tea is hot.','SUPPORTED',0.9,0.07,0.03,0,NULL,'','[{"passage_id":"p1","start":0,"end":11,"quote":"Tea is hot."}]');
INSERT INTO "claims" VALUES('1232c4124610',0,1,'c2','Milk is white.',12,26,'Milk is white.','CONTRADICTED',0.1,0.2,0.7,1,'entity_swap','lexical','[{"passage_id":"p2","start":8,"end":13,"quote":"black"}]');
CREATE TABLE runs (
    "id" TEXT PRIMARY KEY, "name" TEXT NOT NULL, "created" TEXT NOT NULL, "finished" TEXT, "status" TEXT NOT NULL,
    "metric" TEXT NOT NULL, "decomposer" TEXT NOT NULL, "verifier" TEXT NOT NULL, "strategy" TEXT NOT NULL,
    "version" TEXT NOT NULL, "parameters" TEXT NOT NULL, "config" TEXT NOT NULL, "config_fingerprint" TEXT NOT NULL,
    "dataset" TEXT NOT NULL, "dataset_fingerprint" TEXT NOT NULL, "total" BIGINT, "counts" TEXT
);
INSERT INTO "runs" VALUES('1232c4124610','old','2026-11-21T13:09:42.786450+00:00','2026-11-21T13:09:42.795278+00:00','finished','faithfulness','embedded','lexical','ranked','0.1.0','{"empty":"exclude"}','{}','3c093b397d829b105bb9c081c5e382c7','answers.jsonl','',NULL,'{"scored":1}');
CREATE TABLE samples (
    "run_id" TEXT NOT NULL, "position" BIGINT NOT NULL, "fingerprint" TEXT NOT NULL, "sample_id" TEXT NOT NULL,
    "question" TEXT NOT NULL, "response" TEXT NOT NULL, "contexts" TEXT NOT NULL, "reference" TEXT,
    "tags" TEXT NOT NULL, "model" TEXT, "release" TEXT, "timestamp" TEXT, "outcome" TEXT NOT NULL,
    "score" DOUBLE PRECISION, "reason" TEXT NOT NULL, "result" TEXT NOT NULL, PRIMARY KEY ("run_id", "position")
);
INSERT INTO "samples" VALUES('1232c4124610',0,'d97b6718404a70fac63121df7abf4186','s0','What about 0?','Tea is hot. Milk is white. (0)','[{"id":"p1","text":"Tea is hot."},{"id":"p2","text":"Milk is black.","title":"On milk"}]','Tea is hot.','{"source":"kitchen"}','writer-1','v1','2026-01-02T03:04:05Z','scored',0.5,'','{"schema":1,"id":"s0","outcome":"scored","score":0.5,"reason":"","question":"What about 0?","claims":[{"id":"c1","text":"Tea is hot.","span":[0,11],"sentence":"Tea is hot.","verdict":{"label":"SUPPORTED","probabilities":{"supported":0.9,"unsupported":0.07,"contradicted":0.03},"evidence":[{"passage_id":"p1","start":0,"end":11,"quote":"Tea is hot."}],"rationale":"","conflict":false,"failure_mode":null,"judge":"","flags":[]}},{"id":"c2","text":"Milk is white.","span":[12,26],"sentence":"Milk is white.","verdict":{"label":"CONTRADICTED","probabilities":{"supported":0.1,"unsupported":0.2,"contradicted":0.7},"evidence":[{"passage_id":"p2","start":8,"end":13,"quote":"black"}],"rationale":"the colour differs","conflict":true,"failure_mode":"entity_swap","judge":"lexical","flags":["hedge_mismatch"],"per_passage":[{"passage_id":"p2","label":"CONTRADICTED","probabilities":{"supported":0.1,"unsupported":0.2,"contradicted":0.7}}]}}],"skipped":[{"text":"Well!","span":[1,2],"reason":"greeting"}],"counts":{"supported":1,"unsupported":0,"contradicted":1},"warnings":["short"],"tags":{"source":"kitchen"},"usage":{"calls":1,"prompt_tokens":20,"completion_tokens":3,"cache_hits":0,"cost":0.30000000000000004},"provenance":{"metric":"faithfulness","decomposer":"embedded","verifier":"lexical","strategy":"ranked","version":"0.1.0","parameters":{"empty":"exclude"}},"model":"writer-1","release":"v1","timestamp":"2026-01-02T03:04:05Z"}');
CREATE TABLE schema_migrations ("version" INTEGER PRIMARY KEY, "applied" TEXT NOT NULL, "library" TEXT NOT NULL);
INSERT INTO "schema_migrations" VALUES(1,'2026-11-21T13:09:42.785930+00:00','0.1.0');
CREATE TABLE tags (
    "run_id" TEXT NOT NULL, "position" BIGINT NOT NULL, "ordinal" INTEGER NOT NULL, "name" TEXT NOT NULL,
    "value" TEXT NOT NULL, PRIMARY KEY ("run_id", "position", "ordinal")
);
INSERT INTO "tags" VALUES('1232c4124610',0,0,'source','kitchen');
CREATE INDEX samples_outcome ON samples ("run_id", "outcome");
CREATE INDEX samples_id ON samples ("run_id", substr("sample_id", 1, 64));
CREATE INDEX claims_label ON claims ("run_id", "label");
COMMIT;
