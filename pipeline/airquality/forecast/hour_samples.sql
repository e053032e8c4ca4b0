    -- One row per place, hour (position) and lead. Up to 24 hours ahead, the usual value is that of a day before the target, and
    -- of earlier days for longer leads: all of it is known at the position. Missing figures are NaN.
    SELECT place_kind, place, state, position, lead, toUInt8(intDiv(lead + 5, 6) * 6) AS until, target, usuals[intDiv(lead + 23, 24)] AS normal, repeats[intDiv(lead + 23, 24)] AS again, latest, day, hours, steady
    FROM
    (
        SELECT place_kind, place, state, position, toUInt16(arrayJoin(range(1, {{.Leads}} + 1))) AS lead, toUInt16(position + lead) AS ahead, latest, day, hours, steady
        FROM {{.Database}}.forecast_hour_input
        WHERE input = {input:String} AND {{.HourBases}}
    ) AS origin
    INNER JOIN
    (
        SELECT place_kind, place, state, position AS ahead, level AS target, usual AS usuals, repeated AS repeats FROM {{.Database}}.forecast_hour_input
        WHERE input = {input:String}
    ) AS aims USING (place_kind, place, state, ahead)
