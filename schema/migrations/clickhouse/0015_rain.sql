-- Means of rain are amounts of an hour now. The first roll-up of this program computes those of shorter and longer readings again.
INSERT INTO {{.Database}}.rollup (started, hours_from, hours_to, stations, means)
SELECT toDateTime64(0, 3, 'UTC'), now(), now(), 0, 'wanted' FROM (SELECT 1 FROM {{.Database}}.station_parameter_hour WHERE parameter = 'rain' AND averaging != 60 LIMIT 1)
SETTINGS distributed_foreground_insert = 1;
