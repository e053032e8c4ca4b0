package branch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/csvfile"
	"vayu/pipeline/verify/branch"
)

// rbi has the columns of the Reserve Bank's list, release those of razorpay/ifsc.
const (
	rbi = "\ufeffBANK,IFSC,BRANCH,ADDRESS,CITY1,CITY2,STATE,STD CODE,PHONE\r\n" +
		"STATE BANK OF INDIA,SBIN0000001,KOLKATA MAIN,\"SAMRIDDHI BHAWAN\r\n1 STRAND ROAD, KOLKATA\",KOLKATA,KOLKATA,WEST BENGAL,33,22480000\r\n" +
		"HDFC BANK,HDFC0000001,MUMBAI - TULSIANI CHAMBERS,TULSIANI CHMBRS,MUMBAI,GREATER BOMBAY,MAHARASHTRA,22,0\r\n"
	release = "BANK,IFSC,BRANCH,CENTRE,DISTRICT,STATE,ADDRESS,CONTACT,IMPS,RTGS,CITY,ISO3166,NEFT,MICR,UPI,SWIFT\n" +
		"Abhyudaya Co-operative Bank,ABHY0065001,RTGS-HO,GREATER MUMBAI,GREATER MUMBAI,MAHARASHTRA,\"251, ABHYUDAYA BHAVAN\",+912225260173,true,true,MUMBAI,IN-MH,true,400065001,true,\n"
)

// imported imports a text without an error.
func imported(t *testing.T, db *sqlstore.DB, text string) branch.Summary {
	t.Helper()
	s, err := branch.Import(t.Context(), db, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stored returns every row of the directory.
func stored(t *testing.T, db *sqlstore.DB) []string {
	t.Helper()
	rows, err := sqlstore.All(db.View(t.Context()), func(row sqlstore.Scanner) (string, error) {
		cells := make([]string, 7)
		err := row.Scan(&cells[0], &cells[1], &cells[2], &cells[3], &cells[4], &cells[5], &cells[6])
		return strings.Join(cells, "|"), err
	}, "SELECT ifsc, bank, branch, address, city, district, state FROM ifsc_branch ORDER BY ifsc")
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestBothListsAreImported(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		if diff := cmp.Diff(branch.Summary{Read: 2, Imported: 2, Changed: 2}, imported(t, db, rbi)); diff != "" {
			t.Errorf("the Reserve Bank's list (-want +got):\n%s", diff)
		}
		imported(t, db, release)
		want := []string{
			"ABHY0065001|Abhyudaya Co-operative Bank|RTGS-HO|251, ABHYUDAYA BHAVAN|MUMBAI|GREATER MUMBAI|MAHARASHTRA",
			"HDFC0000001|HDFC BANK|MUMBAI - TULSIANI CHAMBERS|TULSIANI CHMBRS|MUMBAI|GREATER BOMBAY|MAHARASHTRA",
			"SBIN0000001|STATE BANK OF INDIA|KOLKATA MAIN|SAMRIDDHI BHAWAN 1 STRAND ROAD, KOLKATA|KOLKATA|KOLKATA|WEST BENGAL",
		}
		if diff := cmp.Diff(want, stored(t, db)); diff != "" {
			t.Errorf("the directory (-want +got):\n%s", diff)
		}
		for code, want := range map[string]string{"SBIN0000001": "KOLKATA MAIN", "ABHY0065001": "RTGS-HO", "SBIN0000002": "", "": ""} {
			got, found, err := branch.Find(db.View(t.Context()), code)
			if got != want || found != (want != "") || err != nil {
				t.Errorf("Find(%q) = %q, %v, %v, want %q", code, got, found, err, want)
			}
		}
	})
}

// TestImportIsIdempotent imports an equal file, and a newer one.
func TestImportIsIdempotent(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		imported(t, db, rbi)
		before := stored(t, db)
		if diff := cmp.Diff(branch.Summary{Read: 2, Imported: 2}, imported(t, db, rbi)); diff != "" {
			t.Errorf("again (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(before, stored(t, db)); diff != "" {
			t.Errorf("the directory after the second time (-want +got):\n%s", diff)
		}
		newer := strings.Replace(rbi, "TULSIANI CHAMBERS", "NARIMAN POINT", 1)
		if diff := cmp.Diff(branch.Summary{Read: 2, Imported: 2, Changed: 1}, imported(t, db, newer)); diff != "" {
			t.Errorf("a newer one (-want +got):\n%s", diff)
		}
	})
}

// TestInvalidRowsAreRejectedSingly checks their lines and reasons.
func TestInvalidRowsAreRejectedSingly(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.SQLite(t)
	long := strings.Repeat("x", 1001)
	lines := []string{
		"state , Ifsc Code,branch_name",          // 1
		"Delhi,sbin0000001,Parliament Street",    // imported: lower case
		"Delhi,SBINO000002,the letter O",         // 3
		"Delhi,SВIN0000002,Cyrillic",             // 4
		"",                                       // not a row
		"Delhi,,no IFSC",                         // 6
		"Delhi,SBIN0000003, ",                    // 7: no branch
		"Delhi,SBIN0000004",                      // 8: a cell less
		"Delhi,SBIN0000005,a,b",                  // 9: one more
		"Delhi,SBIN0000006,a comma more,",        // imported
		"Delhi,SBIN0000007,\"open",               // 11: and the rest of the file is not lost
		"Delhi,SBIN0000008,bad\xff",              // 12
		"Delhi,SBIN0000009,right\u202eto left",   // 13
		"Delhi,SBIN0000010," + long,              // 14
		"Delhi,SBIN0000001,Parliament Street",    // a duplicate
		"Delhi,SBIN0000001,Another",              // 16
		strings.Repeat("y", 70_000),              // 17
		"Delhi,SBIN0000011,\"a \"\"quoted\"\"\"", // imported
		"दिल्ली,SBIN0000012,संसद मार्ग", // imported
		"Delhi,SBIN000001,x", "Delhi,x,x", "Delhi,9,x", "Delhi,@,x", // 20 to 23: more than five
	}
	want := branch.Summary{Read: 21, Imported: 4, Changed: 4, Rejected: []branch.Rejection{
		{Reason: "its IFSC is none: four letters, a zero, six letters or digits", Rows: 6, Lines: []int{3, 4, 20, 21, 22}},
		{Reason: "it has fewer cells than the header, or more", Rows: 2, Lines: []int{8, 9}},
		{Reason: "it has no IFSC", Rows: 1, Lines: []int{6}},
		{Reason: "its branch has no name", Rows: 1, Lines: []int{7}},
		{Reason: "its quotes do not match", Rows: 1, Lines: []int{11}},
		{Reason: "it is not in UTF-8", Rows: 1, Lines: []int{12}},
		{Reason: "it has characters that cannot be printed", Rows: 1, Lines: []int{13}},
		{Reason: "a cell is longer than 1,000 bytes", Rows: 1, Lines: []int{14}},
		{Reason: "its IFSC has stood on an earlier line, with another branch", Rows: 1, Lines: []int{16}},
		{Reason: "it is longer than 64 KiB", Rows: 1, Lines: []int{17}},
	}}
	if diff := cmp.Diff(want, imported(t, db, strings.Join(lines, "\n"))); diff != "" {
		t.Errorf("the summary (-want +got):\n%s", diff)
	}
	rows := []string{
		"SBIN0000001||Parliament Street||||Delhi", "SBIN0000006||a comma more||||Delhi",
		"SBIN0000011||a \"quoted\"||||Delhi", "SBIN0000012||संसद मार्ग||||दिल्ली",
	}
	if diff := cmp.Diff(rows, stored(t, db)); diff != "" {
		t.Errorf("the directory (-want +got):\n%s", diff)
	}
}

func TestInvalidFileIsRefused(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.SQLite(t)
	for text, want := range map[string]string{
		"":                               "the file is empty",
		"\n \r\n":                        "the file is empty",
		"BANK,BRANCH\nx,y\n":             `no column IFSC, only "BANK,BRANCH"`,
		"IFSC,BANK\nSBIN0000001,x\n":     "no column BRANCH",
		"a;b\n":                          "no column IFSC and no column BRANCH",
		"\xff\xfeI\x00F\x00S\x00C\x00\n": "no column IFSC",
		"\"IFSC,BRANCH\n":                "not a header: its quotes",
		strings.Repeat("IFSC,", 20_000):  "not a header: it is longer",
		strings.Repeat("col,", 200):      "…",
	} {
		_, err := branch.Import(t.Context(), db, strings.NewReader(text))
		if e, ok := errors.AsType[*csvfile.HeaderError](err); !ok {
			t.Errorf("%.30q: got %v, want a HeaderError", text, err)
		} else if !strings.Contains(e.Text, want) {
			t.Errorf("%.30q: got %q, want %q", text, e.Text, want)
		}
	}
	if got := stored(t, db); len(got) > 0 {
		t.Errorf("the directory has %q", got)
	}
}

// TestImportIsAtomic covers a read error and a row that the store refuses.
func TestImportIsAtomic(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		torn := errors.New("torn")
		_, err := branch.Import(t.Context(), db, io.MultiReader(strings.NewReader(release), iotest.ErrReader(torn)))
		if !errors.Is(err, torn) {
			t.Errorf("a torn file: got %v, want %v", err, torn)
		}
		sqlstoretest.Exec(t, db, "CREATE UNIQUE INDEX one_name ON ifsc_branch (branch)")
		var text strings.Builder
		text.WriteString("IFSC,BRANCH\n")
		for i := range 100 {
			fmt.Fprintf(&text, "SBIN0%06d,b%d\n", i, min(i, 98))
		}
		s, err := branch.Import(t.Context(), db, strings.NewReader(text.String()))
		if err == nil || !cmp.Equal(s, branch.Summary{}) {
			t.Errorf("a row that the store refuses: got %+v, %v, want an error", s, err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := branch.Import(gone, db, strings.NewReader(release)); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that left: got %v", err)
		}
		if got := stored(t, db); len(got) > 0 {
			t.Errorf("after that the directory has %d rows, want none", len(got))
		}
	})
}

// TestConcurrentImportsDoNotDeadlock imports in different row orders.
func TestConcurrentImportsDoNotDeadlock(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		done := make(chan error, 2)
		for run := range cap(done) {
			go func() {
				text := "IFSC,BRANCH\n"
				for i := range 200 {
					text += fmt.Sprintf("SBIN0%06d,b%d\n", (i*(run*198+1))%200, run) // forwards and backwards
				}
				_, err := branch.Import(t.Context(), db, strings.NewReader(text))
				done <- err
			}()
		}
		for range cap(done) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if got := stored(t, db); len(got) != 200 || strings.Split(got[0], "|")[2] != strings.Split(got[199], "|")[2] {
			t.Errorf("%d branches, the first %s, the last %s: want 200 of one file", len(got), got[0], got[len(got)-1])
		}
	})
}
