-- Tests of a reading against earlier and later ones. Consecutive equal values are
-- one run, so that repeating an hourly value every 15 minutes does not change results.
{{template "insert" .}}
ordered AS
(
    SELECT station, parameter, averaging, toUInt32(at) AS second, value,
        lagInFrame(second) OVER beside AS last, leadInFrame(second) OVER beside AS following,
        second - last >= averaging * 60 + {{.GapSeconds}} AS gap,
        gap OR value != lagInFrame(value) OVER beside AS new
    FROM {{.Database}}.reading FINAL
    WHERE kind = 'concentration' AND averaging <= 60 AND parameter IN ({{.LimitNames}})
        AND station IN {stations:Array(String)}
        AND at >= {from:DateTime('UTC')} - INTERVAL {{.ContextSeconds}} SECOND AND at <= {to:DateTime('UTC')} + INTERVAL {{.ContextSeconds}} SECOND
    WINDOW beside AS (PARTITION BY station, parameter, averaging ORDER BY second ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)
),
runs AS
(
    -- The first reading of each run, and the last reading, which ends the last run.
    SELECT station, parameter, averaging, second AS began, value, gap, new, last,
        multiIf(following = 0, second, leadInFrame(new) OVER around, leadInFrame(last) OVER around, leadInFrame(second) OVER around) AS ended,
        ended - began + averaging * 60 AS lasts,
        lagInFrame(value) OVER around AS value1, lagInFrame(second) OVER around AS began1, lagInFrame(gap, 1, 1) OVER around OR gap AS gap2,
        leadInFrame(value) OVER around AS next, following = 0 OR NOT leadInFrame(new) OVER around OR leadInFrame(gap) OVER around AS gapNext,
        lagInFrame(value, 2) OVER around AS value2, leadInFrame(value, 2) OVER around AS value3,
        -- The second reading before or after counts as a neighbour if it is near in time.
        NOT gap2 AND began - began1 <= {{.NextSeconds}} AS has2,
        leadInFrame(new, 2) OVER around AND NOT leadInFrame(gap, 2) OVER around AND leadInFrame(second, 2) OVER around - began <= {{.NextSeconds}} AS has3,
        greatest(value1, next, if(has2, value2, value1), if(has3, value3, next)) - least(value1, next, if(has2, value2, value1), if(has3, value3, next)) AS range
    FROM ordered
    WHERE new OR following = 0
    WINDOW around AS (PARTITION BY station, parameter, averaging ORDER BY second ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING)
),
marks AS
(
    SELECT *,
        transform(parameter, [{{.LimitNames}}], [{{.Spikes}}], toFloat64(0)) AS spike,
        transform(parameter, [{{.LimitNames}}], [{{.Jumps}}], toFloat64(0)) AS jump,
        -- The distance of a value from the range of its neighbours' values.
        greatest(value - greatest(value1, next), least(value1, next) - value) AS excess,
        greatest(value1 - greatest(value2, value), least(value2, value) - value1) AS excess1,
        NOT gap AND NOT gapNext AND lasts <= {{.SpikeSeconds}} AND excess > spike AND excess > range AND 2 * excess > greatest(value1, next) AS isSpike,
        -- The return to normal after a spike is not a jump.
        NOT gap2 AND last - began1 + averaging * 60 <= {{.SpikeSeconds}} AND excess1 > spike AND 2 * excess1 > greatest(value2, value) AS afterSpike,
        NOT gap AND NOT afterSpike AND abs(value - value1) > jump AND greatest(value, value1) > 2 * least(value, value1) AS isJump,
        lasts >= {{.FlatSeconds}} AS isFlat
    FROM runs
    WHERE new AND (isSpike OR isJump OR isFlat OR gap)
),
results AS
(
    -- A jump is marked at the first reading of a run, and a gap one interval before it.
    SELECT station, parameter, averaging, began, ended, tupleElement(result, 1) AS test, tupleElement(result, 2) AS flag, tupleElement(result, 3) AS detail,
        tupleElement(result, 4) AS whole, test = 'time_gap' AS before
    FROM marks
    ARRAY JOIN arrayFilter(r -> tupleElement(r, 1) != '', [
        (if(isSpike, 'spike', ''), 'suspect', concat(toString(round(value, 2)), ' between ', toString(round(value1, 2)), ' and ', toString(round(next, 2))), 1),
        (if(isJump, 'rate_of_change', ''), 'suspect', concat(toString(round(value1, 2)), ' to ', toString(round(value, 2))), 0),
        (if(isFlat, 'flat_line', ''), 'suspect', concat('repeated ', toString(round(value, 2))), 1),
        (if(gap, 'rate_of_change', ''), 'not_evaluated', 'no reading in the hour before', 0),
        (if(gap, 'time_gap', ''), 'missing', if(last > 0 AND began - last <= {{.BackSeconds}},
            concat('no reading for ', toString(intDiv(began - last, 60) - averaging), ' minutes'), 'no reading for more than 4 hours'), 0)]) AS result
),
hours AS
(
    SELECT *, arrayJoin(range(intDiv(began, 3600), intDiv(if(whole = 1, ended, began), 3600) + 1)) AS hour
    FROM results
),
found AS
(
    SELECT r.station AS station, r.parameter AS parameter, r.at - if(h.before, r.averaging * 60, 0) AS at, 'concentration' AS kind, r.averaging AS averaging,
        r.source AS source, h.test AS test, h.flag AS flag, h.detail AS detail
    FROM
    (
        SELECT station, parameter, averaging, at, source, toUInt32(at) AS second, intDiv(second, 3600) AS hour
        FROM {{.Database}}.reading FINAL
        WHERE kind = 'concentration' AND averaging <= 60 AND parameter IN ({{.LimitNames}})
            AND station IN {stations:Array(String)}
            AND at >= {from:DateTime('UTC')} - INTERVAL {{.BackSeconds}} SECOND AND at <= {to:DateTime('UTC')} + INTERVAL {{.BackSeconds}} SECOND + INTERVAL 1 HOUR
    ) AS r
    INNER JOIN hours AS h ON h.station = r.station AND h.parameter = r.parameter AND h.averaging = r.averaging AND h.hour = r.hour
    WHERE second >= began AND second <= if(whole = 1, ended, began)
        AND at >= {from:DateTime('UTC')} - INTERVAL {{.BackSeconds}} SECOND AND at <= {to:DateTime('UTC')} + INTERVAL {{.BackSeconds}} SECOND
),
{{template "changes" .}}
