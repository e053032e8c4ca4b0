-- Computes the hours of stations: the rolling means and indices of the index, from plain means of hours.
-- Parameters: from and to, the first and last hour; stations; computed, the start of the pass.
INSERT INTO {{.Database}}.station_hour
(
    station, at,
    {{range .Pollutants}}{{.}}, {{end}}
    {{range .Pollutants}}{{.}}_index, {{end}}
    aqi, dominant, derived, daily_mean, updated, computed_at
)
WITH
hourly AS
(
    SELECT station, at AS hour,
        {{range .Pollutants -}}
        anyOrNullIf(mean, parameter = '{{.}}' AND kind = 'concentration') AS {{.}}_hour,
        anyOrNullIf(mean, parameter = '{{.}}' AND kind = 'daily_mean') AS {{.}}_day,
        anyOrNullIf(mean, parameter = '{{.}}' AND kind = 'sub_index') AS {{.}}_published,
        {{end -}}
        max(means.updated) AS updated
    FROM {{.Database}}.station_parameter_hour AS means FINAL
    WHERE at > {from:DateTime('UTC')} - INTERVAL {{.Lookback}} HOUR AND at <= {to:DateTime('UTC')}
        AND station IN {stations:Array(String)}
        AND parameter IN ({{range $i, $p := .Pollutants}}{{if $i}}, {{end}}'{{$p}}'{{end}}) AND isNotNull(mean)
    GROUP BY station, at
),
eight AS
(
    SELECT *{{range .EightHour}},
        if(count({{.}}_hour) OVER over8 >= {{$.MinHoursOf8}}, avg({{.}}_hour) OVER over8, NULL) AS {{.}}_eight{{end}}
    FROM hourly
    WINDOW over8 AS (PARTITION BY station ORDER BY hour RANGE BETWEEN 25200 PRECEDING AND CURRENT ROW)
),
rolling AS
(
    SELECT station, hour, updated,
        {{range .Pollutants}}{{.}}_day, {{.}}_published,
        if(count({{.}}_hour) OVER over24 >= {{$.MinHours}}, {{if $.IsEightHour .}}max({{.}}_eight){{else}}avg({{.}}_hour){{end}} OVER over24, NULL) AS {{.}}_rolling{{if ne . $.Last}},
        {{end}}{{end}}
    FROM eight
    WINDOW over24 AS (PARTITION BY station ORDER BY hour RANGE BETWEEN 82800 PRECEDING AND CURRENT ROW)
),
measured AS
(
    -- These are separate columns, because the functions below repeat their argument.
    SELECT station, hour, updated,
        {{range .Pollutants -}}
        {{.}}_published, {{four (printf "coalesce(%s_rolling, %s_day)" . .)}} AS {{.}}_measured,
        {{end -}}
        {{range $i, $p := .EightHour}}{{if $i}} + {{end}}(isNull({{$p}}_rolling) AND isNotNull({{$p}}_day)) * {{bitOf $p}}{{end}} AS daily_mean
    FROM rolling
    WHERE hour >= {from:DateTime('UTC')}
),
indexed AS
(
    -- A measured concentration takes precedence over one derived from a published
    -- sub-index; a published sub-index takes precedence over a computed one.
    SELECT station, hour, updated, daily_mean,
        {{range .Pollutants -}}
        coalesce({{.}}_measured, naqi_{{.}}_inverse(toUInt16(floor({{.}}_published + 0.5)))) AS {{.}},
        coalesce(toUInt16(floor({{.}}_published + 0.5)), naqi_{{.}}({{.}}_measured)) AS {{.}}_index,
        coalesce({{.}}_published, naqi_{{.}}_lead({{.}}_measured), -1) AS {{.}}_lead,
        {{end -}}
        {{range $i, $p := .Pollutants}}{{if $i}} + {{end}}(isNull({{$p}}_measured) AND isNotNull({{$p}}_published)) * {{bit $i}}{{end}} AS derived
    FROM measured
),
figures AS
(
    SELECT *,
        [{{range $i, $p := .Precedence}}{{if $i}}, {{end}}toInt16(ifNull({{$p}}_index, -1)){{end}}] AS indices,
        -- The dominant pollutant is compared before rounding and beyond the end of the scale.
        [{{range $i, $p := .Precedence}}{{if $i}}, {{end}}{{$p}}_lead{{end}}] AS leads,
        arrayCount(x -> x >= 0, indices) >= {{.MinPollutants}} AND (indices[1] >= 0 OR indices[2] >= 0) AS qualifies
    FROM indexed
)
SELECT station, hour,
    {{range .Pollutants}}{{.}}, {{end}}
    {{range .Pollutants}}{{.}}_index, {{end}}
    if(qualifies, toUInt16(arrayMax(indices)), NULL),
    CAST(toInt8(if(qualifies, [{{range $i, $p := .Precedence}}{{if $i}}, {{end}}{{number $p}}{{end}}][indexOf(leads, arrayMax(leads))], 0)), '{{.DominantEnum}}'),
    derived, daily_mean, updated, {computed:DateTime64(3, 'UTC')}
FROM figures
{{.Settings}}
