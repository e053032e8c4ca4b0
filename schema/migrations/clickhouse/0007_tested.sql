-- Quality tests of series follow the figures of recent hours, with a mark of their own.
ALTER TABLE {{.Database}}.{{local "rollup"}} {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS tested DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'readings stored before, of hours that had ended, have had the quality tests of their series; 0: says nothing of tests' AFTER seen;
{{if .OnCluster -}}
ALTER TABLE {{.Database}}.rollup {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS tested DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'readings stored before, of hours that had ended, have had the quality tests of their series; 0: says nothing of tests' AFTER seen;
{{end -}}
