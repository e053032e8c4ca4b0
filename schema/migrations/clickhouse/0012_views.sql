-- Views and functions of analysts, generated from schema/views. A changed view needs a new migration like this one, with
-- the next number and the new fingerprint. Of several such migrations only the last has an effect.
-- fingerprint 08f6b41b7d1a2384
{{.Views.Statements "0012" .Database .OnCluster}}
