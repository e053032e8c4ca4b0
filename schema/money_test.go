package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestParsePaise(t *testing.T) {
	t.Parallel()
	cases := []struct {
		text string
		want Paise
		err  error
	}{
		{text: "0"}, {text: "-0"}, {text: "0.00"}, {text: "0e999999999999999999999"}, {text: "0.000e-7"},
		{text: "199", want: 19900},
		{text: "199.5", want: 19950},
		{text: "199.50", want: 19950},
		{text: "199.500000", want: 19950},
		{text: "0.05", want: 5},
		{text: "-0.05", want: -5},
		{text: "-1", want: -100},
		{text: "1.99e2", want: 19900},
		{text: "1.995E+2", want: 19950},
		{text: "19900e-2", want: 19900},
		{text: "5e-2", want: 5},
		{text: "500e-4", want: 5},
		{text: "1e00000000000000000000002", want: 10000},
		{text: "100" + strings.Repeat("0", 500) + "e-500", want: 10000},
		{text: "0." + strings.Repeat("0", 500) + "1e501", want: 100},
		{text: "92233720368547758.07", want: math.MaxInt64},
		{text: "-92233720368547758.08", want: math.MinInt64},
		{text: "9007199254740993", want: 900719925474099300},
		{text: "0.001", err: ErrAmountPrecision},
		{text: "1.999", err: ErrAmountPrecision},
		{text: "1e-3", err: ErrAmountPrecision},
		{text: "1e-999999999999999999999", err: ErrAmountPrecision},
		{text: "92233720368547758.08", err: ErrAmountRange},
		{text: "-92233720368547758.09", err: ErrAmountRange},
		{text: "90071992547409930", err: nil, want: 9007199254740993000},
		{text: "900719925474099300", err: ErrAmountRange},
		{text: "1e400", err: ErrAmountRange},
		{text: "-1e400", err: ErrAmountRange},
		{text: "1e999999999", err: ErrAmountRange},
		{text: "1e9223372036854775807", err: ErrAmountRange},
		{text: "1e999999999999999999999", err: ErrAmountRange},
	}
	for _, text := range []string{
		"", "-", "+1", "01", "1.", ".5", "1e", "1e+", "1e1.5", "0x10", "1_000", "1,000", " 1", "1 ", "NaN", "Infinity",
		"१९९", "１９９", `"199"`, "1.5.5", "--1", "null",
	} {
		cases = append(cases, struct {
			text string
			want Paise
			err  error
		}{text: text, err: ErrAmountForm})
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%.40q", c.text), func(t *testing.T) {
			got, err := ParsePaise(c.text)
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("ParsePaise(%.40q): got %d, %v; want %d, %v", c.text, got, err, c.want, c.err)
			}
		})
	}
}

func TestPaiseString(t *testing.T) {
	t.Parallel()
	for paise, want := range map[Paise]string{
		0: "0", 5: "0.05", 50: "0.5", 100: "1", 19900: "199", 19950: "199.5", 19955: "199.55", 19905: "199.05",
		-5: "-0.05", -19950: "-199.5", math.MaxInt64: "92233720368547758.07", math.MinInt64: "-92233720368547758.08",
	} {
		got, err := json.Marshal(paise)
		if err != nil || string(got) != want {
			t.Errorf("%d paise: got %s, %v; want %s", int64(paise), got, err, want)
		}
	}
}

func TestRupees(t *testing.T) {
	t.Parallel()
	for paise, want := range map[Paise]string{
		0: "₹0", 5: "₹0.05", 19900: "₹199", 19950: "₹199.50", 100000: "₹1,000", 12345600: "₹1,23,456", 123456705: "₹12,34,567.05",
		-100000: "-₹1,000", math.MaxInt64: "₹92,23,37,20,36,85,47,758.07",
	} {
		if got := paise.Rupees(); got != want {
			t.Errorf("%d paise: got %s, want %s", int64(paise), got, want)
		}
	}
}

// A large exponent costs no memory: only its size matters.
func TestParsePaiseCost(t *testing.T) {
	for _, text := range []string{"1e999999999", "1e-999999999", "1e2147483647", "0e999999999"} {
		if got := testing.AllocsPerRun(10, func() { _, _ = ParsePaise(text) }); got > 3 {
			t.Errorf("ParsePaise(%s): got %v allocations, want 3 at most", text, got)
		}
	}
}

func FuzzParsePaise(f *testing.F) {
	for _, text := range []string{"199", "1.99e2", "-0.05", "1e400", "0.001", "9007199254740993", "1e-2", "00", "5E-2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParsePaise(text)
		if err == nil {
			if again, err := ParsePaise(got.String()); err != nil || again != got {
				t.Fatalf("%q is %s, which is %d, %v; want %d", text, got, again, err, got)
			}
		}
		if exponent := strings.IndexAny(text, "eE"); !json.Valid([]byte(text)) || exponent >= 0 && len(text)-exponent > 5 {
			return // big.Rat would compute ten to that power
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			return
		}
		exact.Mul(exact, big.NewRat(100, 1))
		switch {
		case exact.IsInt() && exact.Num().IsInt64():
			if err != nil || int64(got) != exact.Num().Int64() {
				t.Fatalf("%q: got %d, %v; want %s", text, got, err, exact)
			}
		case err == nil:
			t.Fatalf("%q: got %d, want an error", text, got)
		case exact.IsInt() && !errors.Is(err, ErrAmountRange):
			t.Fatalf("%q: got %v, want %v", text, err, ErrAmountRange)
		}
	})
}

func FuzzPaiseString(f *testing.F) {
	f.Add(int64(5))
	f.Add(int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, paise int64) {
		text := Paise(paise).String()
		got, err := ParsePaise(text)
		if err != nil || int64(got) != paise {
			t.Fatalf("%d is %s, which is %d, %v", paise, text, got, err)
		}
	})
}

func TestAmountsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, want := range []Paise{0, 1, 99, 100, 199_50, -1, math.MaxInt64, math.MinInt64} {
		text, err := json.Marshal(map[string]Paise{"amount": want})
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Amount, Absent Paise }
		if err := json.Unmarshal(text, &got); err != nil || got.Amount != want {
			t.Errorf("%s was read as %d, %v, want %d", text, got.Amount, err, want)
		}
	}
	kept := Paise(7)
	if err := json.Unmarshal([]byte("null"), &kept); err != nil || kept != 7 {
		t.Errorf("null made it %d, %v", kept, err)
	}
	for _, text := range []string{`"199"`, "0.001", "1e400", "true"} {
		if err := json.Unmarshal([]byte(text), &kept); err == nil || kept != 7 {
			t.Errorf("%s was read as %d, %v", text, kept, err)
		}
	}
}
