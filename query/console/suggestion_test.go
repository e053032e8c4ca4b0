package console_test

import (
	"testing"

	"vayu/query/console"
)

// Names that do not exist have similar names that do, also where ClickHouse itself has none.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	admin := console.Config{Format: "TSV", Write: true}
	must(t, admin, `CREATE DATABASE IF NOT EXISTS vayu; CREATE DATABASE IF NOT EXISTS vayu_sandbox;
		CREATE OR REPLACE TABLE vayu.annual_statistics (station String, pm25 Float64) ENGINE = Memory;
		CREATE OR REPLACE TABLE vayu_sandbox.annual_statistics (station String, pm25 Float64) ENGINE = Memory;
		CREATE OR REPLACE FUNCTION naqi_sub_index AS x -> x`)
	c := console.Config{Format: "TSV", Database: "vayu", Params: map[string]string{"citi": "Pune"}}
	for script, want := range map[string]string{
		"USE vayo":                              "ClickHouse: there is no database vayo for analysts; did you mean vayu?",
		"USE sandbox":                           "ClickHouse: there is no database sandbox for analysts; did you mean vayu_sandbox?",
		"SELECT * FROM sandbox.annual":          "ClickHouse: Database sandbox does not exist; did you mean vayu_sandbox?",
		"SHOW TABLES FROM vayo":                 "ClickHouse: Database vayo does not exist; did you mean vayu?",
		"SELECT * FROM annual":                  "ClickHouse: unknown table 'annual'; did you mean annual_statistics?",
		"DESCRIBE annual_statistic":             "ClickHouse: Table vayu.annual_statistic does not exist; did you mean vayu.annual_statistics?",
		"SELECT statoin FROM annual_statistics": "ClickHouse: unknown column `statoin`; did you mean station?",
		"SELECT pm FROM annual_statistics":      "ClickHouse: unknown column `pm`",
		"SELECT {city:String}":                  "ClickHouse: parameter `city` is not set, and the statement does not use --param citi; set it with --param name=value",
		"SELECT naqi_sub_idx(1)":                "ClickHouse: Function with name `naqi_sub_idx` does not exist; did you mean naqi_sub_index?",
		"SELECT sumIff(1, 1)":                   "ClickHouse: Function with name `sumIff` does not exist; did you mean sumIf?",
		"SELECT 1 SETTINGS execution_time = 1":  "ClickHouse: Unknown setting 'execution_time'; did you mean max_execution_time?",
		"SET execution_time = 1":                "ClickHouse: Unknown setting 'execution_time'; did you mean max_execution_time?",
		"SELECT 1 FROM annual_statistics AS a JOIN annual_statistics AS b USING (statoin)":                         "ClickHouse: unknown column `statoin` in USING; did you mean station?",
		"SELECT 1 FROM annual_statistics AS a JOIN (SELECT pm25 AS alpha FROM annual_statistics) AS b USING aplha": "ClickHouse: unknown column `aplha` in USING; did you mean alpha?",
		"SELECT 1 FROM (SELECT 1 AS alpha) JOIN (SELECT 1 AS alpha) USING (aplha)":                                 "ClickHouse: unknown column `aplha` in USING; did you mean alpha?",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			if _, _, err := run(t, c, script); err == nil || err.Error() != want {
				t.Errorf("got %v\nwant %s", err, want)
			}
		})
	}
}
