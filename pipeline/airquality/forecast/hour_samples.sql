    -- One row per place, hour (position) and horizon. Up to 24 hours ahead, the usual value is that of a day before the target, and
    -- of earlier days for longer horizons: all of it is known at the position. Missing figures are NaN.
    SELECT place_kind, place, state, position, horizon, toUInt8(intDiv(horizon + 5, 6) * 6) AS until, target, usuals[intDiv(horizon + 23, 24)] AS normal, repeats[intDiv(horizon + 23, 24)] AS again, latest, day, hours, steady
    FROM
    (
        SELECT place_kind, place, state, position, toUInt16(arrayJoin(range(1, {{.HourHorizons}} + 1))) AS horizon, toUInt16(position + horizon) AS ahead, latest, day, hours, steady
        FROM {{.Database}}.forecast_hour_input
        WHERE input = {input:String} AND {{.HourBases}}
    ) AS origin
    INNER JOIN
    (
        SELECT place_kind, place, state, position AS ahead, level AS target, usual AS usuals, repeated AS repeats FROM {{.Database}}.forecast_hour_input
        WHERE input = {input:String}
    ) AS aims USING (place_kind, place, state, ahead)
