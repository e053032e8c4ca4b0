-- Hours of each place, with the usual value of the hour of the day and the anomalies that are known at its end.
-- Parameters: input, the id; from, the hour before the first; base, the last hour.
INSERT INTO {{.Database}}.forecast_hour_input (input, place_kind, place, state, position, level, usual, repeated, latest, day, hours, steady)
WITH
measured AS
(
{{.Hours}}
),
dense AS
(
    SELECT place_kind, place, state, position, level, NOT isNaN(level) AS known, position % 24 AS clock
    FROM
    (
        SELECT place_kind, place, state, groupArrayInsertAt(nan, {{.HourGrid}})(log(value), toUInt32(intDiv(dateDiff('second', {from:DateTime('UTC')}, at), 3600) - 1)) AS levels
        FROM measured
        GROUP BY place_kind, place, state
    )
    ARRAY JOIN levels AS level, arrayEnumerate(levels) AS position
),
compared AS
(
    SELECT place_kind, place, state, position, level, known, clock,
        if(countIf(known) OVER weeks >= {{.MinSeen}}, avgIf(level, known) OVER weeks, nan) AS mean,
        level - if(countIf(known) OVER earlier >= {{.MinSeen}}, avgIf(level, known) OVER earlier, nan) AS anomaly,
        if(countIf(known) OVER days > 0, argMaxIf(level, position, known) OVER days, nan) AS last
    FROM dense
    WINDOW
        weeks AS (PARTITION BY place_kind, place, state, clock ORDER BY position ROWS BETWEEN 13 PRECEDING AND CURRENT ROW),
        earlier AS (PARTITION BY place_kind, place, state, clock ORDER BY position ROWS BETWEEN 14 PRECEDING AND 1 PRECEDING),
        days AS (PARTITION BY place_kind, place, state, clock ORDER BY position ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)
),
lagged AS
(
    SELECT place_kind, place, state, position, level, known, anomaly, NOT isNaN(anomaly) AS usable,
        arrayMap(v -> toFloat32(v), [lagInFrame(mean, 1, nan) OVER clocks, lagInFrame(mean, 2, nan) OVER clocks, lagInFrame(mean, 3, nan) OVER clocks]) AS usual,
        arrayMap(v -> toFloat32(v), [lagInFrame(last, 1, nan) OVER clocks, lagInFrame(last, 2, nan) OVER clocks, lagInFrame(last, 3, nan) OVER clocks]) AS repeated
    FROM compared
    WINDOW clocks AS (PARTITION BY place_kind, place, state, clock ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
)
SELECT {input:String}, place_kind, place, state, position, level, usual, repeated,
    if(countIf(usable) OVER hours3 > 0, avgIf(anomaly, usable) OVER hours3, nan) AS latest,
    if(countIf(usable) OVER hours24 >= {{.MinHours}}, avgIf(anomaly, usable) OVER hours24, nan) AS day,
    countIf(known) OVER hours24 AS hours, hours >= {{.MinHours}} AND minIf(level, known) OVER hours24 = maxIf(level, known) OVER hours24 AS steady
FROM lagged
WINDOW
    hours3 AS (PARTITION BY place_kind, place, state ORDER BY position ROWS BETWEEN 2 PRECEDING AND CURRENT ROW),
    hours24 AS (PARTITION BY place_kind, place, state ORDER BY position ROWS BETWEEN 23 PRECEDING AND CURRENT ROW)
{{.HourSettings}}
