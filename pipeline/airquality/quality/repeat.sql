-- Flags spikes and jumps that occur again at the same hour of the Indian day.
{{template "insert" .}}
odd AS
(
    SELECT DISTINCT station, parameter, at, kind, averaging
    FROM {{.Database}}.reading_quality FINAL
    WHERE test IN ('spike', 'rate_of_change') AND flag = 'suspect' AND station IN {stations:Array(String)}
        AND at >= {from:DateTime('UTC')} - INTERVAL {{.BackSeconds}} SECOND - INTERVAL {{.RepeatDays}} DAY
        AND at <= {to:DateTime('UTC')} + INTERVAL {{.BackSeconds}} SECOND + INTERVAL {{.RepeatDays}} DAY
),
sourced AS
(
    SELECT station, parameter, at, kind, averaging, source
    FROM {{.Database}}.reading FINAL
    WHERE (station, parameter, at, kind, averaging) IN odd
        AND station IN {stations:Array(String)}
        AND at >= {from:DateTime('UTC')} - INTERVAL {{.BackSeconds}} SECOND - INTERVAL {{.RepeatDays}} DAY
        AND at <= {to:DateTime('UTC')} + INTERVAL {{.BackSeconds}} SECOND + INTERVAL {{.RepeatDays}} DAY
),
days AS
(
    SELECT station, parameter, kind, averaging, intDiv(toUInt32(at) + {{.IndiaSeconds}} - 1, 86400) AS day,
        intDiv((toUInt32(at) + {{.IndiaSeconds}} - 1) % 86400, 3600) AS hour, groupArray((at, source)) AS readings
    FROM sourced
    GROUP BY station, parameter, kind, averaging, day, hour
),
counted AS
(
    SELECT *, count() OVER (PARTITION BY station, parameter, kind, averaging, hour ORDER BY day RANGE BETWEEN {{.RepeatBefore}} PRECEDING AND CURRENT ROW) AS times
    FROM days
),
found AS
(
    SELECT station, parameter, tupleElement(reading, 1) AS at, kind, averaging, tupleElement(reading, 2) AS source,
        'same_hour' AS test, 'suspect' AS flag, concat('on ', toString(times), ' of {{.RepeatDays}} days') AS detail
    FROM counted
    ARRAY JOIN readings AS reading
    WHERE times >= {{.MinRepeats}} AND at >= {from:DateTime('UTC')} - INTERVAL {{.BackSeconds}} SECOND
),
{{template "changes" .}}
