package webhook_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vayu/dispatch/webhook"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	good := webhook.Sign(event, noon, secret)
	stamp, v1, _ := strings.Cut(good, ",")
	sum := strings.TrimPrefix(v1, "v1=")
	at := noon.Add
	cases := []struct {
		name    string
		body    []byte
		header  string
		now     time.Time
		secrets []string
		want    error
	}{
		{"good", event, good, noon, []string{secret}, nil},
		{"five minutes old", event, good, at(5 * time.Minute), []string{secret}, nil},
		{"a clock that is behind", event, good, at(-5 * time.Minute), []string{secret}, nil},
		{"older", event, good, at(5*time.Minute + time.Second), []string{secret}, webhook.ErrTooOld},
		{"of the future", event, good, at(-5*time.Minute - time.Second), []string{secret}, webhook.ErrTooNew},
		{"a byte more", append(slices.Clip(event), '\n'), good, noon, []string{secret}, webhook.ErrMismatch},
		{"no body", nil, good, noon, []string{secret}, webhook.ErrMismatch},
		{"another secret", event, good, noon, []string{other}, webhook.ErrMismatch},
		{"a newer time", event, strings.Replace(good, "t=1795000000", "t=1795000001", 1), noon, []string{secret}, webhook.ErrMismatch},
		{"forged and old", event, good, at(time.Hour), []string{other}, webhook.ErrMismatch},
		{"two signatures, the first known", event, webhook.Sign(event, noon, secret, other), noon, []string{secret}, nil},
		{"two signatures, the second known", event, webhook.Sign(event, noon, other, secret), noon, []string{secret}, nil},
		{"two secrets, the first used", event, good, noon, []string{secret, other}, nil},
		{"two secrets, the second used", event, good, noon, []string{other, secret}, nil},
		{"schemes of tomorrow", event, "v0=abc," + stamp + ",v2=x=y,scheme=," + v1, noon, []string{secret}, nil},
		{"the time last", event, v1 + "," + stamp, noon, []string{secret}, nil},
		{"a wrong signature before the right one", event, stamp + ",v1=" + strings.Repeat("0", 64) + "," + v1, noon, []string{secret}, nil},
		{"a short signature before the right one", event, stamp + ",v1=00," + v1, noon, []string{secret}, nil},
		{"the right signature under another scheme", event, stamp + ",v0=" + sum + ",v1=" + strings.Repeat("0", 64), noon, []string{secret}, webhook.ErrMismatch},
		{"capitals", event, stamp + ",v1=" + strings.ToUpper(sum), noon, []string{secret}, webhook.ErrMismatch},
		{"cut short", event, good[:len(good)-1], noon, []string{secret}, webhook.ErrMalformed},
		{"nothing", event, "", noon, []string{secret}, webhook.ErrNoSignature},
		{"no time", event, v1, noon, []string{secret}, webhook.ErrMalformed},
		{"no signature", event, stamp, noon, []string{secret}, webhook.ErrMalformed},
		{"another scheme alone", event, stamp + ",v0=" + sum, noon, []string{secret}, webhook.ErrMalformed},
		{"two times", event, good + "," + stamp, noon, []string{secret}, webhook.ErrMalformed},
		{"an empty time", event, "t=," + v1, noon, []string{secret}, webhook.ErrMalformed},
		{"a time with a sign", event, "t=+1795000000," + v1, noon, []string{secret}, webhook.ErrMalformed},
		{"a time of 13 digits", event, "t=1795000000000," + v1, noon, []string{secret}, webhook.ErrMalformed},
		{"a time of 100 digits", event, "t=" + strings.Repeat("9", 100) + "," + v1, noon, []string{secret}, webhook.ErrMalformed},
		{"blanks", event, strings.ReplaceAll(good, ",", ", "), noon, []string{secret}, webhook.ErrMalformed},
		{"words", event, "Bearer abc", noon, []string{secret}, webhook.ErrMalformed},
		{"no secret", event, good, noon, nil, webhook.ErrNoSecret},
		{"an empty secret", event, webhook.Sign(event, noon, ""), noon, []string{""}, webhook.ErrNoSecret},
		{"an empty secret beside another", event, webhook.Sign(event, noon, ""), noon, []string{secret, ""}, webhook.ErrNoSecret},
		{"a time with noughts before it", event, strings.Replace(good, "t=", "t=0", 1), noon, []string{secret}, webhook.ErrMismatch},
		{"the last second there is", event, webhook.Sign(event, time.Unix(999_999_999_999, 0), secret), noon, []string{secret}, webhook.ErrTooNew},
		{"the first second there is", event, webhook.Sign(event, time.Unix(0, 0), secret), time.Unix(999_999_999_999, 0), []string{secret}, webhook.ErrTooOld},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := webhook.Verify(c.body, c.header, c.now, c.secrets...)
			if !errors.Is(got, c.want) || (got == nil) != (c.want == nil) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A header is either refused or signed. Appended garbage never makes a wrong header
// valid. It does not invalidate a valid header that stays well formed.
func FuzzVerify(f *testing.F) {
	good := webhook.Sign(event, noon, secret)
	for _, header := range []string{"", good, good + ",v0=1", "t=", "t=1,v1=", ",,,", "t=1795000000", "v1=" + strings.Repeat("f", 64), "t=1,t=2", "=", "t==1,v1==2"} {
		f.Add(header)
	}
	sum := good[len("t=1795000000,v1="):]
	f.Fuzz(func(t *testing.T, header string) {
		err := webhook.Verify(event, header, noon, secret)
		if err == nil && (!strings.Contains(header, "t=1795000000") || !strings.Contains(header, "v1="+sum)) {
			t.Errorf("%q is taken", header)
		}
		if err != nil && !errors.Is(err, webhook.ErrNoSignature) && !errors.Is(err, webhook.ErrMalformed) && !errors.Is(err, webhook.ErrMismatch) {
			t.Errorf("%q: %v", header, err)
		}
		err = webhook.Verify(event, good+","+header, noon, secret)
		if err != nil && !errors.Is(err, webhook.ErrMalformed) {
			t.Errorf("%q after a signature that holds: %v", header, err)
		}
	})
}
