-- Flags PM2.5 that is higher than PM10 at the same time.
{{template "insert" .}}
pairs AS
(
    SELECT station, at, averaging,
        anyIf(value, parameter = 'pm25') AS pm25, anyIf(value, parameter = 'pm10') AS pm10,
        [('pm25', anyIf(source, parameter = 'pm25')), ('pm10', anyIf(source, parameter = 'pm10'))] AS readings
    FROM {{.Database}}.reading FINAL
    WHERE kind = 'concentration' AND parameter IN ('pm25', 'pm10')
        AND station IN {stations:Array(String)} AND at >= {from:DateTime('UTC')} AND at <= {to:DateTime('UTC')}
    GROUP BY station, at, averaging
    HAVING count() = 2 AND pm25 > pm10
),
found AS
(
    SELECT station, tupleElement(reading, 1) AS parameter, at, 'concentration' AS kind, averaging, tupleElement(reading, 2) AS source,
        'pm25_above_pm10' AS test, 'suspect' AS flag, concat('PM2.5 ', toString(pm25), ', PM10 ', toString(pm10)) AS detail
    FROM pairs
    ARRAY JOIN readings AS reading
),
{{template "changes" .}}
