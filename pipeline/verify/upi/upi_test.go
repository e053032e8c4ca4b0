package upi_test

import (
	"fmt"
	"strings"
	"testing"

	"vayu/pipeline/verify/upi"
)

func TestParse(t *testing.T) {
	t.Parallel()
	most := strings.Repeat("a", 256) + "@" + strings.Repeat("b", 65)
	for text, want := range map[string]string{
		"success@upi":           "success@upi",
		"Ravi.Kumar@OKHDFCBANK": "ravi.kumar@okhdfcbank",
		" 9876543210@ybl\t":     "9876543210@ybl",
		"a_b-c.d@ok1":           "a_b-c.d@ok1",
		"--@a1":                 "--@a1",
		most:                    most,

		"":                                "",
		"@":                               "",
		"@upi":                            "",
		"a@upi":                           "", // one character
		"ravi":                            "",
		"ravi@":                           "",
		"ravi@u":                          "",
		"ravi@1upi":                       "",
		"a@b@c":                           "",
		"ravi@upi@ybl":                    "",
		"ravi@@upi":                       "",
		"ravi@gmail.com":                  "", // e-mail
		"ravi@ok-sbi":                     "",
		"ravi kumar@upi":                  "",
		"ravi+1@upi":                      "",
		"ravi@upi\n@x":                    "",
		"ravi@upi\n":                      "",
		"\r\nravi@upi":                    "",
		"ravi\x00@upi":                    "",
		"ravi@upi\u00a0":                  "",
		"rаvi@upi":                        "", // Cyrillic
		"ravi@uрi":                        "", // Cyrillic
		"रवि@upi":                         "",
		"９８７６５４３２１０@upi":                  "", // full width
		"ravi＠upi":                        "",
		"ra\u200dvi@upi":                  "",
		"ravi\xff@upi":                    "",
		"ravi@\u212Aotak":                 "", // the sign for kelvin, which becomes k in lower case
		"a" + most:                        "",
		most + "b":                        "",
		strings.Repeat("a", 300):          "",
		strings.Repeat("a", 296) + "@upi": "",
	} {
		got, ok := upi.Parse(text)
		if got != want || ok != (want != "") {
			t.Errorf("Parse(%q) = %q, %v, want %q", text, got, ok, want)
		}
	}
}

func TestBank(t *testing.T) {
	t.Parallel()
	for vpa, want := range map[string]string{
		"ravi@okhdfcbank": "HDFC Bank",
		"ravi@oksbi":      "State Bank of India",
		"ravi@ybl":        "Yes Bank",
		"ravi@ibl":        "ICICI Bank",
		"ravi@axl":        "Axis Bank",
		"ravi@paytm":      "Yes Bank",
		"ravi@upi":        "BHIM (NPCI)",
		"ravi@postbank":   "India Post Payments Bank",

		"ravi@nosuch": "",
		"ravi":        "",
		"":            "",
		"ybl":         "",
		"ravi@#":      "",
	} {
		got, ok := upi.Bank(vpa)
		if got != want || ok != (want != "") {
			t.Errorf("Bank(%q) = %q, %v, want %q", vpa, got, ok, want)
		}
	}
}

func TestMask(t *testing.T) {
	t.Parallel()
	for vpa, want := range map[string]string{
		"9876543210@ybl":                  "****10@ybl",
		"919876543210@paytm":              "****10@paytm",
		"98765-43210@ybl":                 "****10@ybl",
		"ravi9876543210@ybl":              "****10@ybl",
		"9876543210.ravi@ybl":             "****vi@ybl",
		"987654@ybl":                      "****54@ybl",
		"r.01-02-90@ybl":                  "****90@ybl",
		"rajsharma@oksbi":                 "ra****ma@oksbi",
		"raj98765@oksbi":                  "ra****65@oksbi",
		"rajraj1@oksbi":                   "r****1@oksbi",
		"rahul@oksbi":                     "r****l@oksbi",
		"ravi@oksbi":                      "****@oksbi",
		"ab@upi":                          "****@upi",
		"@upi":                            "****@upi",
		"":                                "****",
		"9876543210":                      "****",
		strings.Repeat("a", 256) + "@upi": "aa****aa@upi",
	} {
		if got := upi.Mask(vpa); got != want {
			t.Errorf("Mask(%q) = %q, want %q", vpa, got, want)
		}
	}
}

// TestManyNumbersHaveOneMask checks that a masked mobile number keeps two digits only. Forty
// million numbers share a mask.
func TestManyNumbersHaveOneMask(t *testing.T) {
	t.Parallel()
	masks := map[string]bool{}
	for i := range 100_000 {
		masks[upi.Mask(fmt.Sprintf("%d@ybl", 6_000_000_000+i*39_999))] = true
	}
	if len(masks) > 100 {
		t.Errorf("100,000 mobile numbers have %d masks, want 100 at most", len(masks))
	}
}

// FuzzParse checks that a parsed address parses to itself, is plain ASCII within its limits,
// and that its mask discloses little.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"success@upi", " 9876543210@YBL ", "a@b@c", "ravi@gmail.com", "रवि@upi", "@"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		vpa, ok := upi.Parse(text)
		if again, twice := upi.Parse(vpa); ok != twice || again != vpa {
			t.Errorf("Parse(%q) = %q, and again %q, %v", text, vpa, again, twice)
		}
		if ok && (strings.Count(vpa, "@") != 1 || len(vpa) > 322 || strings.ContainsFunc(vpa, func(r rune) bool { return r <= ' ' || r > '~' })) {
			t.Errorf("Parse(%q) = %q", text, vpa)
		}
		local, handle, _ := strings.Cut(vpa, "@")
		masked, behind, _ := strings.Cut(upi.Mask(vpa), "@")
		kept := len(masked) - len("****")
		if behind != handle {
			t.Errorf("Mask(%q) has the handle %q, want %q", vpa, behind, handle)
		}
		if kept > 4 || ok && kept > 0 && len(local)-kept < 3 {
			t.Errorf("Mask(%q) = %q, which keeps %d of %d characters (valid: %v)", vpa, upi.Mask(vpa), kept, len(local), ok)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		vpa, _ := upi.Parse("ravi.kumar@okhdfcbank")
		upi.Bank(vpa)
	}
}
