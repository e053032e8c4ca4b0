package httpapi_test

import (
	"fmt"
	"testing"
	"time"

	"vayu/internal/httpapi"
)

func TestPreferWait(t *testing.T) {
	t.Parallel()
	const most, none = 30 * time.Second, -1
	for _, c := range []struct {
		headers []string
		want    time.Duration
	}{
		{nil, none},
		{[]string{""}, none},
		{[]string{"wait=10"}, 10 * time.Second},
		{[]string{"wait=0"}, 0},
		{[]string{"wait=30"}, most},
		{[]string{"wait=31"}, most},
		{[]string{"wait=99999999999999999999"}, most},
		{[]string{"Wait = 5"}, 5 * time.Second},
		{[]string{`wait="5"`}, 5 * time.Second},
		{[]string{"respond-async, wait=5"}, 5 * time.Second},
		{[]string{"respond-async;x=\"a,wait=7\", \twait=5 ;foo=1"}, 5 * time.Second},
		{[]string{`x="\",wait=7"`, "wait=5"}, 5 * time.Second},
		{[]string{"wait=5, wait=9"}, 5 * time.Second},
		{[]string{"wait"}, none},
		{[]string{"wait="}, none},
		{[]string{`wait="`}, none},
		{[]string{`wait="5`}, none},
		{[]string{"wait=-1"}, none},
		{[]string{"wait=+1"}, none},
		{[]string{"wait=1.5"}, none},
		{[]string{"wait=1s"}, none},
		{[]string{"wait=५"}, none},
		{[]string{"waiter=5"}, none},
		{[]string{"return=minimal"}, none},
		{[]string{";,=,\""}, none},
	} {
		t.Run(fmt.Sprintf("%q", c.headers), func(t *testing.T) {
			if got, wanted := httpapi.PreferWait(c.headers, most); got != max(c.want, 0) || wanted != (c.want != none) {
				t.Errorf("it waits %v, wanted %v, want %v", got, wanted, c.want)
			}
		})
	}
}

func FuzzPreferWait(f *testing.F) {
	for _, seed := range []string{"wait=10", `a="\",b", wait=3;c`, `"`, `\`, "wait=\"\"", ",,;;=="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		const most = 30 * time.Second
		switch got, wanted := httpapi.PreferWait([]string{header}, most); {
		case got < 0:
			t.Errorf("%q: got = %v, want at least 0", header, got)
		case got > most:
			t.Errorf("%q: got = %v, want at most %v", header, got, most)
		case got%time.Second != 0:
			t.Errorf("%q: got%%time.Second = %v, want 0", header, got%time.Second)
		case !wanted && got != 0:
			t.Errorf("Prefer: %q waits %v, wanted %v", header, got, wanted)
		}
	})
}
