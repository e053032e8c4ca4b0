package spelling_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/schema/spelling"
)

func TestSimilar(t *testing.T) {
	t.Parallel()
	known := []string{"vayu", "vayu_sandbox", "system", "city", "state", "station", "stations", "pm10", "pm25", "a", "cities", "City"}
	for name, want := range map[string][]string{
		"vayo":                     {"vayu"},
		"sandbox":                  {"vayu_sandbox"},
		"sytsem":                   {"system"},
		"CITTY":                    {"City", "city"},
		"citi":                     {"City", "city"},
		"statoin":                  {"station"},
		"pm2":                      {"pm25"},
		"b":                        nil, // a name of one letter is similar to none
		"":                         nil,
		"colour":                   nil,
		"station":                  {"stations"},
		"ta":                       nil,
		strings.Repeat("x", 1<<20): nil,
	} {
		t.Run(name[:min(len(name), 20)], func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, spelling.Similar(name, known, 2)); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"fron": " Did you mean from?", "limt": " Did you mean limit?", "x": "", "day": " Did you mean days?"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := spelling.DidYouMean(name, []string{"from", "limit", "days"}); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
