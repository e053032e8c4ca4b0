-- Views and functions of analysts, generated from schema/views. A changed view needs a new migration like this one, with
-- the next number and the new fingerprint. Of several such migrations only the last has an effect.
-- fingerprint 7ab64ac815df92e5
{{.Views.Statements "0019" .Database .OnCluster}}
ALTER TABLE {{.Database}}.{{local "station_parameter_hour"}} {{.OnCluster}}
    COMMENT COLUMN minimum 'least of the readings; of rain, each as the amount of an hour',
    COMMENT COLUMN maximum 'largest of the readings; of rain, each as the amount of an hour';
{{if .OnCluster -}}
ALTER TABLE {{.Database}}.station_parameter_hour {{.OnCluster}}
    COMMENT COLUMN minimum 'least of the readings; of rain, each as the amount of an hour',
    COMMENT COLUMN maximum 'largest of the readings; of rain, each as the amount of an hour';
{{end -}}
