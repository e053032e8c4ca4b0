{{define "station columns"}}
    station LowCardinality(String) COMMENT 'station.id',
    name String COMMENT 'name of the station',
    city LowCardinality(String) COMMENT 'city, canonical name; empty if unknown',
    state LowCardinality(String) COMMENT 'state or union territory',
    kind LowCardinality(String) COMMENT 'reference: regulatory analyser; sensor: low-cost sensor, not comparable with it; city_mean: series averaged over a city by its source',
{{- end}}

{{define "parameter columns"}}
    parameter LowCardinality(String) COMMENT 'parameter.id: what was measured',
    unit LowCardinality(String) COMMENT 'unit of the concentrations in this row',
{{- end}}

{{define "figure columns"}}
    mean Nullable(Float64) COMMENT 'mean of the hours, in the unit of the row; a published mean of a day counts as 24 hours',
    minimum Nullable(Float64) COMMENT 'least hourly mean, in the unit of the row; NULL without hours, or if published means alone make the row complete',
    p05 Nullable(Float64) COMMENT '5th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    p25 Nullable(Float64) COMMENT '25th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    median Nullable(Float64) COMMENT 'median of the hourly means, in the unit of the row; NULL as minimum is',
    p75 Nullable(Float64) COMMENT '75th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    p95 Nullable(Float64) COMMENT '95th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    p98 Nullable(Float64) COMMENT '98th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    maximum Nullable(Float64) COMMENT 'largest hourly mean, in the unit of the row; NULL as minimum is',
    max_8h Nullable(Float64) COMMENT 'largest 8-hour mean, of at least 6 hours, in the unit of the row; NULL as minimum is',
    max_day Nullable(Float64) COMMENT 'largest mean of a valid day, in the unit of the row',
    days UInt16 COMMENT 'valid days: those with at least {{.DayHours}} hours, or with a published mean',
    measured_hours UInt32 COMMENT 'hours with a measured mean, on which percentiles and extremes of hours rest; a published mean of a day has none',
    {{- template "capture columns" .}}
{{- end}}

{{define "capture columns"}}
    hours UInt32 COMMENT 'hours with a mean; a published mean of a day counts as 24',
    expected_hours UInt32 COMMENT 'hours of the whole period',
    capture Float64 COMMENT 'hours / expected_hours, 0-1',
    complete Bool COMMENT 'capture is at least {{percent .Capture}} %; the figures of other rows do not stand for the period'
{{- end}}

{{define "several ids"}}SELECT arrayJoin([toString(id), same_as]) FROM {{.Database}}.station FINAL WHERE same_as != ''{{end}}

{{define "facts"}}
        -- The days of physical stations. A station with several ids (same_as) has the id of the preferred network. Of its days
        -- the one with a valid measured mean counts, then a valid published mean. Of several such days that of the preferred
        -- network counts, and of days without a valid mean that with the most hours.
        SELECT station, parameter, day, mean, count, expected, suspect, excluded, hours, present, max_8h
        FROM {{.Database}}.station_parameter_day FINAL
        WHERE station GLOBAL NOT IN ({{template "several ids" .}})
        UNION ALL
        SELECT station, parameter, day, chosen.1, chosen.2, chosen.3, chosen.4, chosen.5, chosen.6, chosen.7, chosen.8
        FROM
        (
            SELECT CAST(ids.physical, 'LowCardinality(String)') AS station, parameter, day,
                argMax((mean, count, expected, suspect, excluded, hours, present, max_8h),
                    (length(hours) >= {{.DayHours}}, isNotNull(mean) AND (expected = 1 OR count >= {{.DayHours}}) AS valid, if(valid, 0, length(hours)), ids.id = ids.physical, length(hours), isNotNull(mean), ids.id)) AS chosen
            FROM (SELECT * FROM {{.Database}}.station_parameter_day FINAL WHERE station GLOBAL IN ({{template "several ids" .}})) AS day_of_id
            INNER JOIN (SELECT toString(id) AS id, if(same_as = '', id, same_as) AS physical FROM {{.Database}}.station FINAL) AS ids ON ids.id = day_of_id.station
            GROUP BY station, parameter, day
        )
{{- end}}

{{define "days"}}
        -- A published mean of a day weighs 24 hours. Directions have no mean over days, so they are left out.
        SELECT station, parameter, day, mean AS day_mean, hours AS clock, max_8h AS eight,
            toUInt32(multiIf(isNull(mean), 0, expected = 1, 24, count)) AS weight, toUInt32(length(hours)) AS measured
        FROM ({{template "facts" .}}
        )
        WHERE parameter != 'wind_direction'
{{- end}}

{{- /* A sum of Float64 depends on the order of its rows, and so on merges of parts. A sum of decimals does not. The bound
       is beyond any measurement: an absurd reading must not end the query with an overflow. least() would replace NULL. */}}
{{define "exact"}}toDecimal128(if(abs({{.}}) < 1e20, {{.}}, 0), 12){{end}}

{{define "mean"}}toFloat64(sum({{template "exact" "day_mean * weight"}})) / nullIf(sum(weight), 0) AS mean{{end}}

{{define "figures"}}
        {{template "mean"}},
        arrayMap(x -> if(isNaN(x), NULL, x), quantilesExactInclusiveArray(0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.98, 1)(clock)) AS shares,
        max(eight) AS eight, maxOrNullIf(day_mean, weight >= {{.DayHours}}) AS max_day,
        countIf(weight >= {{.DayHours}}) AS days, sum(measured) AS measured_hours, sum(weight) AS hours
{{- end}}

{{define "hour figures"}}
    -- A complete row has no figures of hours unless the measured hours alone make it complete.
    complete AND measured_hours < {{.Capture}} * expected_hours AS unmeasured,
    if(unmeasured, NULL, shares[1]) AS minimum, if(unmeasured, NULL, shares[2]) AS p05, if(unmeasured, NULL, shares[3]) AS p25, if(unmeasured, NULL, shares[4]) AS median,
    if(unmeasured, NULL, shares[5]) AS p75, if(unmeasured, NULL, shares[6]) AS p95, if(unmeasured, NULL, shares[7]) AS p98, if(unmeasured, NULL, shares[8]) AS maximum,
    if(unmeasured, NULL, eight) AS max_8h, max_day, days, measured_hours, hours,
{{- end}}

{{define "capture"}}expected_hours, hours / expected_hours AS capture, toBool(capture >= {{.Capture}}) AS complete{{end}}

{{define "place"}}INNER JOIN (SELECT id, name, city, state, toString(kind) AS kind FROM {{.Database}}.station FINAL) AS place ON place.id = station{{end}}
