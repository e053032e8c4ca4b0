// Package views has the views and SQL functions with which analysts read air quality data. A view has one row per fact,
// and a comment with the unit for each column. A view stores no data, so it is created again whenever its text changes.
package views

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"text/template"

	"vayu/schema/parameter"
)

//go:embed *.sql
var texts embed.FS

// Migration is the number of the last ClickHouse migration that creates the views. Each change of a view needs a new
// migration. Migration must then be set to the number of the new migration, see [Set.Statements].
const Migration = "0021"

// Names lists the views in the order of their creation. A view reads only tables and earlier views. The file NAME.sql
// has the columns and the query of a view.
//
//nolint:gochecknoglobals // a table
var Names = [...]string{
	"standard", "openair", "daily", "data_capture", "monthly_statistics", "annual_statistics", "season",
	"diurnal", "weekday", "exceedance", "ranking", "trend",
}

// Set is the set of all views and functions. Templates of migrations access it as the field Views.
type Set struct{}

// Statements returns the SQL that creates all functions and views in a database. `onCluster` is the clause "ON CLUSTER
// name", or "". For another migration than [Migration], Statements returns "". [Migration] replaces the views of older
// migrations anyway, and today's views may need tables that do not exist yet at an older migration.
func (s Set) Statements(migration, database, onCluster string) (string, error) {
	if migration != Migration {
		return "", nil
	}
	var b strings.Builder
	for _, f := range functions() {
		fmt.Fprintf(&b, "CREATE OR REPLACE FUNCTION %s %s AS %s;\n", f.name, onCluster, f.lambda)
	}
	for _, name := range Names {
		text, err := render(name, database, onCluster)
		if err != nil {
			return "", fmt.Errorf("writing the view %q: %w", name, err)
		}
		b.WriteString(strings.TrimSpace(text) + ";\n")
	}
	return b.String(), nil
}

// Fingerprint returns 16 hexadecimal digits that change if the text of any view or function changes.
func Fingerprint() (string, error) {
	text, err := Set{}.Statements(Migration, "vayu", "")
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8]), err
}

// data is the input of the templates of the views.
type data struct {
	Database  string
	OnCluster string
	Wide      []wide
	Limits    []Limit
	// DayHours is the constant dayHours, the least number of hours with a mean in a valid day. Capture is the constant
	// Capture, the least share of such hours in a longer period.
	DayHours int
	Capture  float64
}

const (
	// dayHours is CPCB's rule for a 24-hour mean: at least 16 of 24 hours (National Air Quality Index, 2014, chapter
	// 4).
	dayHours = 16
	// Capture is the share of the hours of a period that must have data. With fewer hours, the statistics of the
	// period are incomplete. The share is the usual data.thresh of openair's timeAverage, and the annual rule of EU
	// directive 2008/50/EC, annex XI, in its general part.
	Capture = 0.75
)

// wide is a column of the view "openair", which has one column for each parameter.
type wide struct{ Column, Parameter, Name, Unit string }

// openairNames maps weather parameters to the column names that the R package openair expects.
//
//nolint:gochecknoglobals // a table
var openairNames = map[string]string{"wind_speed": "ws", "wind_direction": "wd", "humidity": "rh"}

func wideColumns() []wide {
	var all []wide
	for p := range parameter.All() {
		column := p.ID()
		if short, ok := openairNames[column]; ok {
			column = short
		}
		all = append(all, wide{column, p.ID(), p.Name(), p.Unit()})
	}
	return all
}

func render(name, database, onCluster string) (string, error) {
	t, err := template.New("views").Funcs(template.FuncMap{"percent": percent, "lastOf": func(all []wide) int { return len(all) - 1 }}).ParseFS(texts, "shared.sql", name+".sql")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.ExecuteTemplate(&b, name+".sql", data{
		Database: database, OnCluster: onCluster, Wide: wideColumns(), Limits: Limits[:], DayHours: dayHours, Capture: Capture,
	})
	return b.String(), err
}

// percent returns a share in per cent. It returns an error if that is not a whole number.
func percent(share float64) (string, error) {
	whole := share * 100
	if whole != float64(int(whole)) {
		return "", errors.New("the share is not a whole number of per cent")
	}
	return fmt.Sprint(int(whole)), nil
}
