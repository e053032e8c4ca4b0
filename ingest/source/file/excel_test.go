package file

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"vayu/ingest"
	"vayu/ingest/source/file/table"
	"vayu/schema/air"
)

// workbook writes an export with one sheet of the given rows.
func workbook(t *testing.T, rows ...[]any) string {
	t.Helper()
	book := excelize.NewFile()
	defer book.Close()
	for i, row := range rows {
		cell, err := excelize.CoordinatesToCellName(1, i+1)
		if err != nil {
			t.Fatal(err)
		}
		if err := book.SetSheetRow("Sheet1", cell, &row); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "export")
	var text bytes.Buffer
	if err := book.Write(&text); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestExcelTimes checks that a re-saved export, whose times are numbers of days,
// keeps its times.
func TestExcelTimes(t *testing.T) {
	t.Parallel()
	start := time.Date(2020, 4, 1, 0, 0, 0, 0, time.UTC)
	path := workbook(t,
		[]any{"Station", "Peenya, Bengaluru - CPCB"},
		[]any{"From Date", "To Date", "PM2.5", "CO"},
		[]any{start, start.Add(15 * time.Minute), 9.5, "None"},
		[]any{"01-04-2020 00:15", "01-04-2020 00:30", 7, 0.5},
		[]any{"01-04-2020 00:30", 12, 7, 0.5},
	)
	got := reap(t, path)
	if got.Readings != 3 || got.Averaging[15] != 3 || got.Kinds[air.Concentration] != 3 {
		t.Errorf("%+v, want 3 readings of 15 minutes", got)
	}
	if got.Rejected[ingest.MissingValue] != 1 || got.Rejected[ingest.BadTime] != 2 {
		t.Errorf("rejected %v, want 1 missing_value and 2 bad_time", got.Rejected)
	}
	if at, ok := table.ExcelTime([]byte("43922.010416666664")); !ok || !at.Equal(start.Add(15*time.Minute)) {
		t.Errorf("serial = %s, %v", at, ok)
	}
}

func TestExcelWithoutAStation(t *testing.T) {
	t.Parallel()
	path := workbook(t, []any{"From Date", "To Date", "PM2.5"}, []any{"01-04-2020 00:15", "01-04-2020 00:30", 7})
	f, err := Open("file", path, 0, now, shippedFormats(t))
	if err != nil {
		t.Fatal(err)
	}
	err = f.Fetch(t.Context(), ingest.Window{}, func(b *ingest.Batch) error { b.Release(); return nil })
	if _, ok := errors.AsType[*ingest.BatchError](err); !ok {
		t.Errorf("error %v, want a refusal", err)
	}
}

// TestExcelBomb checks that a workbook of 300 KB that unpacks to 300 MB is
// rejected.
func TestExcelBomb(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	sheet, err := archive.Create("xl/worksheets/sheet1.xml")
	if err != nil {
		t.Fatal(err)
	}
	blank := bytes.Repeat([]byte(" "), 1<<20)
	for range 300 {
		if _, err := sheet.Write(blank); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bomb")
	if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open("file", path, 0, now, shippedFormats(t))
	if err != nil {
		t.Fatal(err)
	}
	var refused *ingest.BatchError
	err = f.Fetch(t.Context(), ingest.Window{}, func(*ingest.Batch) error { return nil })
	if !errors.As(err, &refused) {
		t.Fatalf("got error %v, want one of the type %T", err, refused)
	}
	if refused.Reason != ingest.BadReply {
		t.Errorf("got %s, %q; want %s", refused.Reason, err, ingest.BadReply)
	}
}

// TestExcelBlocks checks that each station of an Excel export gets its own
// readings, also after a resume in the middle.
func TestExcelBlocks(t *testing.T) {
	t.Parallel()
	names := []string{"BTM Layout, Bengaluru - CPCB", "Peenya, Bengaluru - CPCB", "Hebbal, Bengaluru - KSPCB"}
	rows := [][]any{{"Station", strings.Join(names, ", ")}, {"Parameter", "CO"}, {strings.Join(names, ", ")}}
	for i, name := range names {
		rows = append(rows, []any{nil, nil, name}, []any{"From Date", "To Date", "CO"})
		for day := range 3 {
			rows = append(rows, []any{fmt.Sprintf("%02d-01-2019 00:00", day+1), fmt.Sprintf("%02d-01-2019 00:00", day+2), i + 1})
		}
	}
	path := workbook(t, rows...)
	all, _, _ := collect(t, path, 0)
	values := make(map[string]float64)
	for _, r := range all {
		values[r.Station] += r.Value
	}
	want := map[string]float64{"cpcb-btm-layout-bengaluru-cpcb": 3, "cpcb-peenya-bengaluru-cpcb": 6, "cpcb-hebbal-bengaluru-kspcb": 9}
	if !maps.Equal(values, want) {
		t.Errorf("sums by station %v, want %v", values, want)
	}
	rest, _, _ := collect(t, path, 11)
	if !slices.Equal(rest, all[len(all)-len(rest):]) || len(rest) != 5 {
		t.Errorf("from row 11: %v", rest)
	}
}
