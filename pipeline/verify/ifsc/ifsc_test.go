package ifsc_test

import (
	"strings"
	"testing"

	"vayu/pipeline/verify/ifsc"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SBIN0000001":       "SBIN0000001",
		"sbin0000001":       "SBIN0000001",
		"hdfc0Caacob":       "HDFC0CAACOB",
		" \t SBIN0000001\n": "SBIN0000001",
		"ABCD0ZZZZZZ":       "ABCD0ZZZZZZ", // well formed; Find says whether it is there

		"":                         "",
		"SBIN":                     "",
		"SBIN000000":               "",
		"SBIN00000011":             "",
		"SBINO000001":              "", // the letter O
		"SBINo000001":              "",
		"SBIN1000001":              "",
		"5BIN0000001":              "",
		"SB1N0000001":              "",
		"SBIN 000001":              "",
		"SBIN0 00001":              "",
		"SBIN0-00001":              "",
		"ЅBIN000000":               "", // Cyrillic
		"SВIN0000001":              "", // Cyrillic
		"SBIN000000１":              "", // full width
		"ＳＢＩＮ０００００１":               "",
		"SBIN०००००१":               "", // Devanagari
		"SBIN0000001\u00a0":        "",
		"SBIN0000001\u200b":        "",
		"SBIN000000\x00":           "",
		"SBIN000000\xff":           "",
		"SBIN0000001 SBIN000":      "",
		strings.Repeat("A", 5_000): "",
	} {
		got, ok := ifsc.Parse(text)
		if got != want || ok != (want != "") {
			t.Errorf("Parse(%q) = %q, %v, want %q", text, got, ok, want)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"SBIN0000001": "State Bank of India",
		"HDFC0000001": "HDFC Bank",
		"ICIC0000001": "ICICI Bank",
		"UTIB0000004": "Axis Bank",
		"ABHY0065001": "Abhyudaya Co-operative Bank",                // the first of the list
		"HDFC0CAACOB": "Akhand Anand Co.op Bank",                    // lent
		"YESB0AMA001": "",                                           // not given to anybody
		"ICIC00TJUCB": "Jamkhandi Urban Co-operative Bank",          // lent, and not to a bank with letters of its own
		"KSCB0020001": "Ballari District Co-operative Central Bank", // lent as one of many
		"NHBA0000001": "NHBA",                                       // no name is known

		"SBIN0ZZZZZZ": "",
		"ZZZZ0000001": "",
		"AAAA0000000": "",
		"ZZZZ0ZZZZZZ": "",
		"sbin0000001": "", // Parse has not seen it
		"SBIN000000":  "",
		"":            "",
	} {
		got, ok := ifsc.Find(code)
		if got != want || ok != (want != "") {
			t.Errorf("Find(%q) = %q, %v, want %q", code, got, ok, want)
		}
	}
}

// FuzzFind checks that every found code is well formed, and is found as written.
func FuzzFind(f *testing.F) {
	for _, text := range []string{"SBIN0000001", " hdfc0caacob ", "SBINO000001", "ＳＢＩＮ０００００１", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code, ok := ifsc.Parse(text)
		if again, twice := ifsc.Parse(code); ok != twice || again != code {
			t.Errorf("Parse(%q) = %q, and again %q, %v", text, code, again, twice)
		}
		if ok != (len(code) == 11) {
			t.Errorf("Parse(%q) = %q, %v", text, code, ok)
		}
		if bank, found := ifsc.Find(code); found != (bank != "") || found && !ok {
			t.Errorf("Find(%q) = %q, %v", code, bank, found)
		}
	})
}
