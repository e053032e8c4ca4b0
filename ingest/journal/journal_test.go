package journal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/ingest/journal"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/migration"
	"vayu/schema"
	"vayu/schema/migrations/clickhouse"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

func TestRecordedRunsAreRows(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	p := migration.Params{Database: columnstoretest.Database(t, db), Files: clickhouse.OpsFiles()}
	if err := migration.Apply(t.Context(), db, p); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 20, 8, 30, 0, 123_456_000, time.UTC)
	runs := []ingest.Run{{
		ID: ingest.NewRunID(at), Source: "schools", Kind: ingest.LiveRun, Window: ingest.Window{From: at.Add(-3 * time.Hour), To: at},
		Elapsed: 1500 * time.Millisecond, Outcome: "done",
		Received:     ingest.Received{Requests: 2, Bytes: 12345, SHA256: strings.Repeat("ab", 32)},
		ConfigSHA256: strings.Repeat("cd", 32),
		Fingerprint: ingest.Fingerprint{
			Fields: map[string]ingest.FieldType{"hour": ingest.TextField, "pm25": ingest.NumberField | ingest.TextField, "pos": ingest.NullField},
			Units:  map[string][]string{"pm25": {"µg/m³", "ppb"}},
		},
		Hours:  map[int64]int{at.Truncate(time.Hour).Add(-30 * time.Minute).Unix(): 40},
		Stored: 40, Withdrawn: 1, Newest: at.Add(-time.Hour), Rejected: ingest.Rejections{ingest.BadNumber: 2, ingest.MissingValue: 7},
		Values: []ingest.RejectedValue{
			{Reason: ingest.BadNumber, Field: "pm25", Station: "schools-1", Line: 3, Raw: `{"pm25":"1O"}`},
			{Reason: ingest.BadTime, Raw: "नमस्ते\n'\"\\"},
		},
	}, {
		ID: ingest.NewRunID(at.Add(time.Second)), Source: "schools", Kind: ingest.ImportRun, // an open window, nothing received
		Outcome: "fetch_failed", Error: "status 503",
	}}
	sandbox := journal.New(db.Conn(), p.Database, schema.Sandbox)
	for range 2 { // a run that is recorded again is one row
		if err := sandbox.Record(t.Context(), runs); err != nil {
			t.Fatal(err)
		}
	}
	if err := journal.New(db.Conn(), p.Database, schema.Live).Record(t.Context(), runs[1:]); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"SELECT groupArray(toString(tuple(*))) FROM (SELECT * REPLACE (mapSort(rejected) AS rejected, mapSort(fields) AS fields) FROM NAME.source_run FINAL WHERE world = 'sandbox' ORDER BY run)": `(1795163400123456,'sandbox','schools','live','2026-11-20 08:30:00.123456',1.5,'2026-11-20 05:30:00','2026-11-20 08:30:00','done','',2,12345,'` +
			strings.Repeat("ab", 32) + `',40,1,'2026-11-20 07:30:00',{'bad_number':2,'missing_value':7},'` + strings.Repeat("cd", 32) + `','` + runs[0].Fingerprint.Hash() +
			`',{'hour':'text','pm25':'text|number','pos':''},{'pm25':['ppb','µg/m³']},{'2026-11-20 07:30:00':40})` + "\n" +
			`(1795163401123456,'sandbox','schools','import','2026-11-20 08:30:01.123456',0,'1970-01-01 00:00:00','1970-01-01 00:00:00','fetch_failed','status 503',0,0,'',0,0,'1970-01-01 00:00:00',{},'','',{},{},{})`,
		"SELECT groupArray(toString(tuple(* EXCEPT (run, started)))) FROM (SELECT * FROM NAME.rejected FINAL ORDER BY number)": `('sandbox','schools',0,'bad_number','pm25','schools-1',3,'{"pm25":"1O"}')` + "\n" +
			`('sandbox','schools',1,'bad_time','','',0,'नमस्ते\n\'"\\')`,
		"SELECT [toString(count())] FROM NAME.source_run FINAL WHERE world = 'live' AND fromUnixTimestamp64Micro(toInt64(run)) = started": "1",
	} {
		var rows []string
		if err := db.Conn().QueryRow(t.Context(), strings.ReplaceAll(query, "NAME", p.Database)).Scan(&rows); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if diff := cmp.Diff(want, strings.Join(rows, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

func TestRejectedValuesOfASource(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	p := migration.Params{Database: columnstoretest.Database(t, db), Files: clickhouse.OpsFiles()}
	if err := migration.Apply(t.Context(), db, p); err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	hours := func(from, to int) ingest.Window {
		return ingest.Window{From: noon.Add(time.Duration(from) * time.Hour), To: noon.Add(time.Duration(to) * time.Hour)}
	}
	live := journal.New(db.Conn(), p.Database, schema.Live)
	var runs []ingest.Run
	for i, r := range []ingest.Run{
		{Source: "schools", Kind: ingest.LiveRun, Window: hours(-9, -6), Rejected: ingest.Rejections{ingest.BadNumber: 1}},
		{Source: "schools", Kind: ingest.LiveRun, Window: hours(-5, -2), Rejected: ingest.Rejections{ingest.UnknownUnit: 4, ingest.MissingValue: 9}},
		{Source: "schools", Kind: ingest.BackfillRun, Window: hours(-3, -1), Rejected: ingest.Rejections{ingest.UnknownUnit: 2, ingest.BadNumber: 3}},
		{Source: "schools", Kind: ingest.LiveRun, Window: hours(-1, 0), Rejected: ingest.Rejections{ingest.MissingValue: 5}},
		{Source: "schools", Kind: ingest.ImportRun, Rejected: ingest.Rejections{ingest.UnknownUnit: 7}},
		{Source: "roofs", Kind: ingest.LiveRun, Window: hours(-2, 0), Rejected: ingest.Rejections{ingest.UnknownUnit: 8}},
	} {
		r.ID, r.Outcome = ingest.NewRunID(noon.Add(time.Duration(i)*time.Second)), "done"
		runs = append(runs, r)
	}
	for range 2 { // a run that is recorded again counts once
		if err := live.Record(t.Context(), runs); err != nil {
			t.Fatal(err)
		}
	}
	if err := journal.New(db.Conn(), p.Database, schema.Sandbox).Record(t.Context(), runs[:1]); err != nil {
		t.Fatal(err)
	}
	rounded := func(w ingest.Window) ingest.Window { return ingest.Window{From: w.From, To: w.To.Add(time.Second)} }
	for name, c := range map[string]struct {
		within  ingest.Window
		reasons []string
		want    journal.Rejected
	}{
		"all":          {hours(-48, 0), nil, journal.Rejected{Runs: 3, Window: rounded(hours(-9, -1)), Values: ingest.Rejections{ingest.UnknownUnit: 6, ingest.BadNumber: 4}}},
		"open end":     {ingest.Window{From: noon.Add(-48 * time.Hour)}, nil, journal.Rejected{Runs: 3, Window: rounded(hours(-9, -1)), Values: ingest.Rejections{ingest.UnknownUnit: 6, ingest.BadNumber: 4}}},
		"one reason":   {hours(-48, 0), []string{"unknown_unit"}, journal.Rejected{Runs: 2, Window: rounded(hours(-5, -1)), Values: ingest.Rejections{ingest.UnknownUnit: 6}}},
		"two reasons":  {hours(-48, 0), []string{"missing_value", "bad_time"}, journal.Rejected{Runs: 2, Window: hours(-5, 0), Values: ingest.Rejections{ingest.MissingValue: 14}}},
		"narrow range": {hours(-4, -3), nil, journal.Rejected{Runs: 1, Window: hours(-4, -3), Values: ingest.Rejections{ingest.UnknownUnit: 4}}},
		"none":         {hours(-48, -24), nil, journal.Rejected{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := live.Rejected(t.Context(), "schools", c.within, c.reasons)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("rejected values (-want +got):\n%s", diff)
			}
		})
	}
}
