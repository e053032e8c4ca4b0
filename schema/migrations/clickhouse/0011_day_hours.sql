-- The hours of a day beside its mean: all statistics of longer periods follow from the days.
ALTER TABLE {{.Database}}.{{local "station_parameter_day"}} {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS hours Array(Float64) DEFAULT [] COMMENT 'hourly means of the day in the unit of the parameter, in the order of time; see present' CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS present UInt32 DEFAULT 0 COMMENT 'bit h set: hours has the mean of the hour from h:00 to h+1:00, Indian time; 0: the day has a published mean only' CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS max_8h Nullable(Float64) COMMENT 'largest 8-hour mean that ends in the day, each of at least 6 hours, in the unit of the parameter; NULL for directions' CODEC(ZSTD(1));
{{if .OnCluster -}}
ALTER TABLE {{.Database}}.station_parameter_day {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS hours Array(Float64) DEFAULT [] COMMENT 'hourly means of the day in the unit of the parameter, in the order of time; see present' CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS present UInt32 DEFAULT 0 COMMENT 'bit h set: hours has the mean of the hour from h:00 to h+1:00, Indian time; 0: the day has a published mean only' CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS max_8h Nullable(Float64) COMMENT 'largest 8-hour mean that ends in the day, each of at least 6 hours, in the unit of the parameter; NULL for directions' CODEC(ZSTD(1));
{{end -}}
-- The first roll-up of this program computes the days that are there.
INSERT INTO {{.Database}}.rollup (started, hours_from, hours_to, stations, means)
SELECT toDateTime64(0, 3, 'UTC'), now(), now(), 0, 'wanted' FROM (SELECT 1 FROM {{.Database}}.station_parameter_day WHERE count > 0 AND expected = 24 AND present = 0 LIMIT 1)
SETTINGS distributed_foreground_insert = 1;
