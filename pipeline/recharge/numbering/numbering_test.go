package numbering_test

import (
	"fmt"
	"strings"
	"testing"

	"vayu/pipeline/recharge/numbering"
	"vayu/schema"
)

func TestMobile(t *testing.T) {
	t.Parallel()
	const mine = "9876543210"
	for text, want := range map[string]string{
		mine:                 mine,
		"+919876543210":      mine,
		"919876543210":       mine,
		"09876543210":        mine,
		"+91 98765 43210":    mine,
		"+91-98765-43210":    mine,
		" 98765-43210 ":      mine,
		"9 8-7 6-5 4-3 2-10": mine,
		"6000000000":         "6000000000",
		"9191919191":         "9191919191", // 91 is part of it

		"":                             "",
		"-":                            "",
		"-9876543210":                  "", // a negative number
		" -9876543210":                 "",
		"-+919876543210":               "",
		"+-919876543210":               "",
		"9876543210\n":                 "",
		"5876543210":                   "", // no mobile begins with 0 to 5
		"0987654321":                   "",
		"987654321":                    "",
		"98765432101":                  "",
		"00919876543210":               "",
		"0919876543210":                "",
		"+9876543210":                  "",
		"+09876543210":                 "",
		"++919876543210":               "",
		"91+9876543210":                "",
		"915876543210":                 "",
		"929876543210":                 "",
		"98765\t43210":                 "",
		"98765.43210":                  "",
		"98765\u00a043210":             "",
		"९८७६५४३२१०":                   "", // Devanagari
		"９８７６５４３２１０":                   "", // full width
		"987654321०":                   "",
		"9876543210\x00":               "",
		"9876543210\xff":               "",
		strings.Repeat("9", 99):        "",
		mine + strings.Repeat(" ", 40): "",
	} {
		got, ok := numbering.Mobile(text)
		if got != want || ok != (want != "") {
			t.Errorf("Mobile(%q) = %q, %v, want %q", text, got, ok, want)
		}
	}
}

func TestSubscriberID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1005825110":    "1005825110",
		"3012345678":    "3012345678",
		"01234567890":   "01234567890",
		"0123 4567-890": "01234567890",
		"12345678":      "12345678",
		"200012345678":  "200012345678",

		"":              "",
		"1234567":       "",
		"1234567890123": "",
		"+1005825110":   "",
		"-1005825110":   "",
		" - 1005825110": "",
		"1005825110\n":  "",
		"१००५८२५११०":    "",
		"１００５８２５１１０":    "",
		"D2H12345678":   "",
	} {
		got, ok := numbering.SubscriberID(text)
		if got != want || ok != (want != "") {
			t.Errorf("SubscriberID(%q) = %q, %v, want %q", text, got, ok, want)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind       schema.RechargeType
		text, want string
	}{
		{schema.Prepaid, "airtel", "Airtel"},
		{schema.Prepaid, " AIRTEL ", "Airtel"},
		{schema.Prepaid, "Bharti-Airtel", "Airtel"},
		{schema.Prepaid, "reliance jio", "Jio"},
		{schema.Prepaid, "VI™", "Vi"},
		{schema.Prepaid, "Vodafone-Idea", "Vi"},
		{schema.Prepaid, "vodafone", "Vi"},
		{schema.Prepaid, "idea", "Vi"},
		{schema.Prepaid, "b.s.n.l.", "BSNL"},
		{schema.Prepaid, "mtnl", "MTNL"},
		{schema.DTH, "TATASKY", "Tata Play"},
		{schema.DTH, "Tata Play", "Tata Play"},
		{schema.DTH, "dishtv", "Dish TV"},
		{schema.DTH, "D2H", "d2h"},
		{schema.DTH, "Videocon D2H", "d2h"},
		{schema.DTH, "sun-direct", "Sun Direct"},
		{schema.DTH, "airtel", "Airtel Digital TV"},

		{schema.DTH, "Jio", ""},
		{schema.Prepaid, "Tata Play", ""},
		{schema.Prepaid, "Airtel Digital TV", ""},
		{schema.Prepaid, "aircel", ""},
		{schema.Prepaid, "auto", ""},
		{schema.Prepaid, "", ""},
		{schema.Prepaid, " -. ", ""},
		{schema.Prepaid, "एयरटेल", ""},
		{schema.Prepaid, "Аirtel", ""}, // the first letter is Cyrillic
		{schema.Prepaid, "ａｉｒｔｅｌ", ""},
		{schema.Prepaid, "airtel\xff", ""},
		{schema.Prepaid, "airtel" + strings.Repeat(" ", 500), ""},
		{"postpaid", "Airtel", ""},
	} {
		t.Run(fmt.Sprintf("%s %.30q", c.kind, c.text), func(t *testing.T) {
			got, ok := numbering.Find(c.kind, c.text)
			if got.Name != c.want || ok != (c.want != "") {
				t.Errorf("Find(%s, %q) = %q, %v, want %q", c.kind, c.text, got.Name, ok, c.want)
			}
		})
	}
}

// TestNamesAreOfOne keeps a name or an alias from meaning two things.
func TestNamesAreOfOne(t *testing.T) {
	t.Parallel()
	for _, o := range numbering.Operators() {
		for _, name := range append([]string{o.Name}, o.Aliases...) {
			if got, ok := numbering.Find(o.Type, name); !ok || got.Name != o.Name {
				t.Errorf("Find(%s, %q) = %q, %v, want %q", o.Type, name, got.Name, ok, o.Name)
			}
		}
		if o.Min != 10_00 || o.Max != 10_000_00 {
			t.Errorf("%s takes %d to %d paise, want 10 to 10,000 rupees", o.Name, o.Min, o.Max)
		}
	}
	if got := len(numbering.Operators()); got != 10 {
		t.Errorf("%d operators, want 10", got)
	}
}

func TestCircle(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"delhi":               "Delhi",
		"DL":                  "Delhi",
		"Delhi NCR":           "Delhi",
		"Maharashtra and Goa": "Maharashtra & Goa",
		"maharashtra":         "Maharashtra & Goa",
		"goa":                 "Maharashtra & Goa",
		"MUMBAI":              "Mumbai",
		"orissa":              "Odisha",
		"Chennai":             "Tamil Nadu",
		"UP (East)":           "UP East",
		"uttar pradesh west":  "UP West",
		"Jammu and Kashmir":   "Jammu & Kashmir",
		"Telangana":           "Andhra Pradesh & Telangana",
		"Jharkhand":           "Bihar & Jharkhand",

		"":              "",
		"&":             "",
		"Uttar Pradesh": "", // which one?
		"Atlantis":      "",
		"दिल्ली":        "",
	} {
		got, ok := numbering.Circle(text)
		if got != want || ok != (want != "") {
			t.Errorf("Circle(%q) = %q, %v, want %q", text, got, ok, want)
		}
	}
	if got := len(numbering.Circles()); got != 22 {
		t.Errorf("%d circles, want the 22 licensed service areas", got)
	}
	for _, name := range numbering.Circles() {
		if got, ok := numbering.Circle(name); !ok || got != name {
			t.Errorf("Circle(%q) = %q, %v", name, got, ok)
		}
	}
}
