-- From a reading to the run of its source, and so to the hash of the received bytes.
ALTER TABLE {{.Database}}.{{local "reading"}} {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS run UInt64 COMMENT 'vayu_ops.source_run.run: the run that fetched the reading; 0 for pushed readings and for those of versions before 0.2' CODEC(ZSTD(1));
{{if .OnCluster -}}
ALTER TABLE {{.Database}}.reading {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS run UInt64 COMMENT 'vayu_ops.source_run.run: the run that fetched the reading; 0 for pushed readings and for those of versions before 0.2' CODEC(ZSTD(1));
{{end -}}
