-- The mark of 0015 can be acknowledged by a program of before, which computes means of rain by the old formula, if it still
-- leads during a rolling upgrade. It neither reads nor writes the values here.
ALTER TABLE {{.Database}}.{{local "rollup"}} {{.OnCluster}}
    MODIFY COLUMN means Enum8('none' = 0, 'wanted' = 1, 'done' = 2, 'amounts_wanted' = 3, 'amounts_done' = 4) DEFAULT 'none' COMMENT 'wanted: plain means of the readings before are to be computed; done: they are; amounts_wanted, amounts_done: the same by a program whose means of rain are amounts of an hour';
{{if .OnCluster -}}
ALTER TABLE {{.Database}}.rollup {{.OnCluster}}
    MODIFY COLUMN means Enum8('none' = 0, 'wanted' = 1, 'done' = 2, 'amounts_wanted' = 3, 'amounts_done' = 4) DEFAULT 'none' COMMENT 'wanted: plain means of the readings before are to be computed; done: they are; amounts_wanted, amounts_done: the same by a program whose means of rain are amounts of an hour';
{{end -}}
INSERT INTO {{.Database}}.rollup (started, hours_from, hours_to, stations, means)
SELECT toDateTime64(0, 3, 'UTC'), now(), now(), 0, 'amounts_wanted' FROM (SELECT 1 FROM {{.Database}}.station_parameter_hour WHERE parameter = 'rain' AND averaging != 60 LIMIT 1)
SETTINGS distributed_foreground_insert = 1;
