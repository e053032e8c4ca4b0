-- India's National AQI as functions, generated from schema/naqi. A change of the rule there needs a new migration that
-- creates them again.
{{range .Functions -}}
CREATE OR REPLACE FUNCTION {{.Name}} {{$.OnCluster}} AS {{.Lambda}};
{{end}}