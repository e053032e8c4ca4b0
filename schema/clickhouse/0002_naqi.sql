-- India's National AQI as functions, generated from schema/naqi.
{{range .Functions -}}
CREATE OR REPLACE FUNCTION {{.Name}} {{$.OnCluster}} AS {{.Lambda}};
{{end}}