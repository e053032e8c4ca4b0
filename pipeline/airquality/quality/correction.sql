-- Corrects PM2.5 of low-cost sensors by EPA's formula of 2021 for PurpleAir (cf_1) with
-- relative humidity: Barkjohn et al. 2021, 10.5194/amt-14-4617-2021, extended for
-- smoke as in AirNow's Fire and Smoke Map. Fitted to sensors in the USA.
INSERT INTO {{.Database}}.corrected (station, at, averaging, raw, corrected, humidity, channels, formula, version, computed_at, removed)
WITH
measured AS
(
    SELECT station, at, averaging, anyIf(value, parameter = 'pm25') AS raw, anyIf(value, parameter = 'humidity') AS humidity,
        -- A source that delivers the sensor's two channels stores them as pm25_a and pm25_b.
        anyIf(value, parameter = 'pm25_a') AS a, anyIf(value, parameter = 'pm25_b') AS b, countIf(parameter IN ('pm25_a', 'pm25_b')) AS both,
        multiIf(both < 2, 'unknown', abs(a - b) > {{.ChannelMicrograms}} AND abs(a - b) > {{.ChannelShare}} * (a + b) / 2, 'differ', 'agree') AS channels
    FROM {{.Database}}.reading FINAL
    WHERE kind = 'concentration' AND parameter IN ('pm25', 'humidity', 'pm25_a', 'pm25_b')
        AND station IN {stations:Array(String)} AND station IN (SELECT id FROM {{.Database}}.station FINAL WHERE id IN {stations:Array(String)} AND kind = 'sensor')
        AND at >= {from:DateTime('UTC')} AND at <= {to:DateTime('UTC')}
    GROUP BY station, at, averaging
    HAVING countIf(parameter = 'pm25') = 1 AND countIf(parameter = 'humidity') = 1
),
found AS
(
    SELECT station, at, averaging, raw, humidity, channels,
        raw / 20 - 1.5 AS low, raw / 50 - 4.2 AS high,
        greatest(0, multiIf(
            raw < 30, 0.524 * raw - 0.0862 * humidity + 5.75,
            raw < 50, (0.786 * low + 0.524 * (1 - low)) * raw - 0.0862 * humidity + 5.75,
            raw < 210, 0.786 * raw - 0.0862 * humidity + 5.75,
            raw < 260, (0.69 * high + 0.786 * (1 - high)) * raw - 0.0862 * humidity * (1 - high) + 2.966 * high + 5.75 * (1 - high) + 0.000884 * raw * raw * high,
            2.966 + 0.69 * raw + 0.000884 * raw * raw)) AS exact,
        round(exact, 4) AS corrected
    FROM measured
),
both AS
(
    SELECT station, at, averaging, '{{.Formula}}' AS formula, (raw, corrected, humidity, channels, {{.FormulaVersion}}) AS row, 1 AS now, toDateTime64(0, 3, 'UTC') AS computed
    FROM found
    UNION ALL
    SELECT station, at, averaging, toString(formula), (raw, corrected, humidity, toString(channels), version), 0, computed_at
    FROM {{.Database}}.corrected FINAL
    WHERE formula = '{{.Formula}}' AND station IN {stations:Array(String)} AND at >= {from:DateTime('UTC')} AND at <= {to:DateTime('UTC')}
)
SELECT station, at, averaging, tupleElement(argMax(row, now) AS latest, 1), tupleElement(latest, 2), tupleElement(latest, 3), tupleElement(latest, 4), formula,
    tupleElement(latest, 5), greatest(now64(3), max(computed) + toIntervalMillisecond(1)), max(now) = 0
FROM both
GROUP BY station, at, averaging, formula
HAVING max(now) = 0 OR min(now) = 1 OR uniqExact(row) > 1
{{.Settings}}
