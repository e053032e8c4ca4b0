-- How many stations have the base hour, and the hour a day before.
-- Parameters: from and base, 25 hours apart.
SELECT uniqExactIf(station, at = {base:DateTime('UTC')}), uniqExactIf(station, at = {from:DateTime('UTC')} + INTERVAL 1 HOUR)
FROM {{.Database}}.station_parameter_hour FINAL
WHERE parameter = 'pm25' AND kind = 'concentration' AND isNotNull(mean) AND at > {from:DateTime('UTC')} AND at <= {base:DateTime('UTC')}
    AND station IN (SELECT id FROM {{.Database}}.station FINAL)
SETTINGS distributed_product_mode = 'global'
