-- A program with the old formula of rain can lead again after amounts_done, while instances of both run. Each roll-up
-- therefore has a mark of its formula, and the program with the new formula computes the rain of the others again.
ALTER TABLE {{.Database}}.{{local "rollup"}} {{.OnCluster}}
    MODIFY COLUMN means Enum8('none' = 0, 'wanted' = 1, 'done' = 2, 'amounts_wanted' = 3, 'amounts_done' = 4, 'amounts' = 5) DEFAULT 'none' COMMENT 'none: a roll-up by a program whose means of rain are no amounts; amounts: by one whose means are; wanted: plain means of the readings before are to be computed; done: they are; amounts_wanted, amounts_done: the same by a program whose means of rain are amounts of an hour';
{{if .OnCluster -}}
ALTER TABLE {{.Database}}.rollup {{.OnCluster}}
    MODIFY COLUMN means Enum8('none' = 0, 'wanted' = 1, 'done' = 2, 'amounts_wanted' = 3, 'amounts_done' = 4, 'amounts' = 5) DEFAULT 'none' COMMENT 'none: a roll-up by a program whose means of rain are no amounts; amounts: by one whose means are; wanted: plain means of the readings before are to be computed; done: they are; amounts_wanted, amounts_done: the same by a program whose means of rain are amounts of an hour';
{{end -}}
