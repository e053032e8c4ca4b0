package numbering_test

import (
	_ "embed" // series.csv
	"fmt"
	"slices"
	"strings"
	"testing"

	"vayu/pipeline/recharge/numbering"
	"vayu/schema"
)

//go:embed series.csv
var seriesCSV string

func TestSeries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mobile, operator, circle string
	}{
		{"9000000008", "Airtel", "Andhra Pradesh & Telangana"},
		{"9810012345", "Airtel", "Delhi"},
		{"9820012345", "Vi", "Mumbai"},
		{"9440012345", "BSNL", "Andhra Pradesh & Telangana"},
		{"9868012345", "MTNL", "Delhi"},
		{"9869012345", "MTNL", "Mumbai"},
		{"7011012345", "Jio", "Delhi"},
		{"9811012345", "Vi", "Delhi"},
		{"9840012345", "Airtel", "Tamil Nadu"},
		{"9030012345", "Airtel", "Andhra Pradesh & Telangana"}, // once Tata Docomo's
		{"9841012345", "", ""},                                 // Aircel's, which has closed
		{"6500012345", "", ""},                                 // unassigned
		{"5000012345", "", ""},
		{"98100", "", ""},
		{"", "", ""},
	} {
		t.Run(fmt.Sprintf("%q", c.mobile), func(t *testing.T) {
			operator, circle, ok := numbering.Series(c.mobile)
			if operator != c.operator || circle != c.circle || ok != (c.operator != "") {
				t.Errorf("Series(%q) = %q, %q, %v, want %q, %q", c.mobile, operator, circle, ok, c.operator, c.circle)
			}
		})
	}
}

// TestTheTableIsSound checks every row. Its operator and circle exist, its series can
// begin a mobile number, and no number has two holders.
func TestTheTableIsSound(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for i, line := range slices.Collect(strings.Lines(seriesCSV)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSpace(line), ",")
		if len(fields) != 3 {
			t.Fatalf("line %d: %d fields, want operator, circle, series", i+1, len(fields))
		}
		if o, ok := numbering.Find(schema.Prepaid, fields[0]); !ok {
			t.Errorf("line %d: %q is no name of an operator", i+1, fields[0])
		} else if o.Name != fields[0] {
			t.Errorf("line %d: %q is not the canonical name, which is %q", i+1, fields[0], o.Name)
		}
		if _, ok := numbering.Circle(fields[1]); !ok && fields[1] != "" {
			t.Errorf("line %d: %q is no circle", i+1, fields[1])
		}
		for s := range strings.FieldsSeq(fields[2]) {
			number := (s + "000000")[:10]
			if _, ok := numbering.Mobile(number); !ok {
				t.Errorf("line %d: %q begins no mobile number", i+1, s)
			}
			if len(s) != 4 && len(s) != 5 {
				t.Errorf("line %d: %q has %d digits, want 4 or 5", i+1, s, len(s))
			}
			for _, begin := range []string{s, s[:4]} {
				if other, twice := seen[begin]; twice {
					t.Errorf("line %d: %s is %s's already", i+1, s, other)
				}
			}
			seen[s] = fields[0]
		}
	}
	known := 0
	for i := range 40_000 {
		if _, _, ok := numbering.Series(fmt.Sprintf("%d00000", 60_000+i)); ok {
			known++
		}
	}
	// The table had 24,548 rows when it was made. Fewer mean that some were not read.
	if known < 24_000 {
		t.Errorf("%d of 40,000 series are known, want more than half", known)
	}
}

func FuzzMobile(f *testing.F) {
	for _, text := range []string{"9876543210", "+91 98765-43210", "09876543210", "919876543210", "९८७६५४३२१०", "", "+", "91"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		digits, ok := numbering.Mobile(text)
		if !ok {
			if digits != "" {
				t.Fatalf("Mobile(%q) = %q, and not ok", text, digits)
			}
			return
		}
		if len(digits) != 10 || digits[0] < '6' || strings.Trim(digits, "0123456789") != "" {
			t.Fatalf("Mobile(%q) = %q", text, digits)
		}
		if again, ok := numbering.Mobile(digits); !ok || again != digits {
			t.Fatalf("Mobile(%q) = %q, %v: it must be itself", digits, again, ok)
		}
		kept := strings.NewReplacer(" ", "", "-", "", "+", "").Replace(text)
		if !strings.HasSuffix(kept, digits) {
			t.Fatalf("Mobile(%q) = %q, which is not what it ends with", text, digits)
		}
		_, _, _ = numbering.Series(digits)
	})
}

func FuzzSubscriberID(f *testing.F) {
	for _, text := range []string{"1005825110", "0123 4567-890", "12345678", "１００５８２５１１０", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, ok := numbering.SubscriberID(text)
		if !ok && id == "" {
			return
		}
		switch {
		case !ok:
			t.Fatalf("SubscriberID(%q) = %q, %v", text, id, ok)
		case len(id) < 8:
			t.Fatalf("%q: len(id) = %v, want at least 8", text, len(id))
		case len(id) > 12:
			t.Fatalf("%q: len(id) = %v, want at most 12", text, len(id))
		case strings.Trim(id, "0123456789") != "":
			t.Fatalf("%q: strings.Trim(id, \"0123456789\") = %q, want none", text, strings.Trim(id, "0123456789"))
		}
		if again, ok := numbering.SubscriberID(id); !ok || again != id {
			t.Fatalf("SubscriberID(%q) = %q, %v: it must be itself", id, again, ok)
		}
	})
}

func FuzzFind(f *testing.F) {
	for _, text := range []string{"airtel", "Tata Sky", "VI™", "", "एयरटेल", "d-2-h"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []schema.RechargeType{schema.Prepaid, schema.DTH} {
			o, ok := numbering.Find(kind, text)
			if !ok {
				if o.Name != "" {
					t.Fatalf("Find(%s, %q) = %v, and not ok", kind, text, o)
				}
				continue
			}
			if again, ok := numbering.Find(kind, o.Name); !ok || again.Name != o.Name {
				t.Fatalf("Find(%s, %q) = %v, whose own name gives %v, %v", kind, text, o, again, ok)
			}
			if o.Type != kind {
				t.Fatalf("Find(%s, %q) has the type %s", kind, text, o.Type)
			}
		}
		if name, ok := numbering.Circle(text); ok && !slices.Contains(numbering.Circles(), name) {
			t.Fatalf("Circle(%q) = %q", text, name)
		}
	})
}
