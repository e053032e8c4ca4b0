-- Views and functions of analysts, generated from schema/views. A changed view needs a new migration like this one, with
-- the next number and the new fingerprint. Of several such migrations only the last has an effect.
-- fingerprint 33e5c9a455cb95a3
{{.Views.Statements "0012" .Database .OnCluster}}
