-- Why a series that had data within the last {{.Length}} days has no forecast.
INSERT INTO {{.Database}}.forecast
    (run, place_kind, place, state, parameter, day, horizon, model, served, reason, fitted_at, issued_at)
WITH
series AS
(
    SELECT place_kind, place, state, {{.Names}}[slot] AS parameter, groupArraySorted({{.Length}})((day, amount)) AS days,
        days[-1].1 AS latest, days[-1].2 AS last, arrayCount(d -> d.2 > 0 AND d.2 < {{.Largest}}, days) AS usable, arrayMap(d -> d.2, arrayFilter(d -> d.1 > {base:Date} - 7, days)) AS week
    FROM
    (
        SELECT place_kind, place, state, day, arrayJoin({slots:Array(UInt8)}) AS slot, assumeNotNull(amounts[slot]) AS amount
        FROM {{.Database}}.forecast_input
        WHERE input = {input:String} AND known_at <= {known:DateTime64(3, 'UTC')} AND day BETWEEN {first:Date} AND {base:Date} AND isNotNull(amounts[slot])
    )
    GROUP BY place_kind, place, state, slot
)
SELECT {run:String}, place_kind, place, state, parameter, {base:Date}, 0, 'none', 1,
    multiIf(latest < {base:Date}, 'no_recent_data', NOT (last > 0 AND last < {{.Largest}}), 'implausible_value', length(week) >= 5 AND arrayUniq(week) = 1, 'constant_series', usable < {{.MinSeen}}, 'too_little_history', 'no_residuals'),
    {fitted:DateTime64(3, 'UTC')}, {known:DateTime64(3, 'UTC')}
FROM series
WHERE (place_kind, place, state, parameter) NOT IN
(
    SELECT place_kind, place, state, parameter FROM {{.Database}}.forecast
    WHERE run = {run:String} AND horizon > 0 AND day > {base:Date} AND day <= {base:Date} + {{.Farthest}} AND day - horizon = {base:Date}
)
{{.Settings}}
