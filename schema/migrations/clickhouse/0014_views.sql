-- Views and functions of analysts, generated from schema/views. A changed view needs a new migration like this one, with
-- the next number and the new fingerprint. Of several such migrations only the last has an effect.
-- fingerprint 9cc06fba07337db8
{{.Views.Statements "0014" .Database .OnCluster}}
