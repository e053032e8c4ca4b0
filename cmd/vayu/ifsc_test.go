package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"vayu/pipeline/verify/branch"
)

// branches is a file with two valid and two invalid rows.
const branches = "\ufeffBank,IFSC,Branch,City1,State\r\n" +
	"STATE BANK OF INDIA,SBIN0000001,KOLKATA MAIN,KOLKATA,WEST BENGAL\r\n" +
	"STATE BANK OF INDIA,SBINO000002,YAVATMAL,YAVATMAL,MAHARASHTRA\r\n" +
	"HDFC BANK,hdfc0000001,TULSIANI CHAMBERS,MUMBAI,MAHARASHTRA\r\n" +
	"HDFC BANK,HDFC0000002,,MUMBAI,MAHARASHTRA\r\n"

// writeFile writes a file and returns its path.
func writeFile(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The import is visible at once in a store that is open.
func TestBranchesAreImported(t *testing.T) {
	t.Parallel()
	data, db := newLedgerStore(t)
	path := writeFile(t, "branches.csv", branches)
	first := wantOutput(t, data, "4 read", "import-ifsc", path)
	want := path + `
        4 read
        2 taken, 2 of them new or changed
        1 refused: its IFSC is none: four letters, a zero, six letters or digits (line 3)
        1 refused: its branch has no name (line 5)
`
	if first != want {
		t.Errorf("got %s, want %s", first, want)
	}
	wantOutput(t, data, "2 taken, 0 of them new or changed", "import-ifsc", path)
	if got, found, err := branch.Find(db.View(t.Context()), "HDFC0000001"); got != "TULSIANI CHAMBERS" || !found || err != nil {
		t.Errorf("Find returns %q, %v, %v", got, found, err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(branches)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	wantOutput(t, data, "2 taken, 0 of them", "import-ifsc", writeFile(t, "branches.csv.gz", packed.String()))
}

// An import without a valid row fails with the reason.
func TestAFileWithoutBranchesFails(t *testing.T) {
	t.Parallel()
	data, _ := newLedgerStore(t)
	for want, text := range map[string]string{
		"the file is empty":                           "",
		"its first line has no column BRANCH":         "IFSC,BANK\nSBIN0000001,SBI\n",
		"1 refused: it has no IFSC (line 2)":          "IFSC,BRANCH\n,x\n",
		"0 taken":                                     "IFSC,BRANCH\n",
		"unexpected EOF":                              "\x1f\x8b\x08",
		"6 refused: its branch has no name (line 2, ": "IFSC,BRANCH\n" + string(bytes.Repeat([]byte("SBIN0000001,\n"), 6)),
	} {
		if out, err := command(t.Context(), "import-ifsc", writeFile(t, "x.csv", text), "--data", data); err == nil {
			t.Errorf("%q is imported: %s", text, out)
		}
		wantOutput(t, data, want, "import-ifsc", writeFile(t, "x.csv", text))
	}
	wantOutput(t, data, "no such file", "import-ifsc", filepath.Join(data, "nothing.csv"))
	wantOutput(t, data, "accepts 1 arg", "import-ifsc")
}
