-- The age of a source's data, without a scan of its readings.
ALTER TABLE {{.Database}}.{{local "source_run"}} {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS newest DateTime('UTC') COMMENT 'end of the averaging interval of the newest stored reading, UTC; 1970 if the run stored none' CODEC(DoubleDelta, LZ4) AFTER withdrawn;
{{if .OnCluster -}}
ALTER TABLE {{.Database}}.source_run {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS newest DateTime('UTC') COMMENT 'end of the averaging interval of the newest stored reading, UTC; 1970 if the run stored none' CODEC(DoubleDelta, LZ4) AFTER withdrawn;
{{end -}}
