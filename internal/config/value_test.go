package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"vayu/internal/config"
)

func TestSecretIsNeverShown(t *testing.T) {
	t.Parallel()
	const hush = "hush-hush"
	type holder struct {
		Open   config.Secret
		hidden config.Secret
	}
	h := holder{config.NewSecret(hush), config.NewSecret(hush)}
	shown := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		shown[verb] = fmt.Sprintf(verb, h.Open)
		if got := fmt.Sprintf(verb, h); strings.Contains(got, hush) || strings.Contains(got, fmt.Sprintf("%x", hush)) {
			t.Errorf("%s of a holder shows the secret: %s", verb, got)
		}
	}
	j, err := json.Marshal(h.Open)
	shown["JSON"] = strings.Trim(string(j), `"`)
	if err != nil {
		t.Fatal(err)
	}
	y, err := yaml.Marshal(h.Open)
	shown["YAML"] = strings.Trim(string(y), "'\n")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", h.Open)
	_, shown["slog"], _ = strings.Cut(strings.TrimSpace(log.String()), "key=")
	for how, got := range shown {
		if got != "***" {
			t.Errorf("%s shows %q, want ***", how, got)
		}
	}
	switch {
	case h.hidden.Reveal() != hush:
		t.Error("the secret lost its text")
	case !h.hidden.Equal(h.Open):
		t.Errorf("the secret lost its text: h.hidden = %v, want %v", h.hidden, h.Open)
	}
	switch empty := (config.Secret{}); {
	case empty.String() != "":
		t.Errorf("an empty secret is not empty: empty.String() = %q, want none", empty.String())
	case empty.IsSet():
		t.Error("an empty secret is set")
	case empty.Reveal() != "":
		t.Errorf("an empty secret has the text %q", empty.Reveal())
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]config.Size{
		"0": 0, "17": 17, "17B": 17, "2kB": 2000, "3MB": 3e6, "4GB": 4e9, "5TB": 5e12,
		"1KiB": 1024, "512MiB": 512 << 20, "2 GiB": 2 << 30, "8TiB": 8 << 40,
	} {
		var got config.Size
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q = %d, %v; want %d", text, got, err, want)
		}
		var again config.Size
		if err := again.UnmarshalText([]byte(got.String())); err != nil || again != got {
			t.Errorf("%q written as %q reads as %d, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1.5GiB", "1e9", "1XB", "9000000000GiB", "९"} {
		var got config.Size
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q = %d, want an error", text, got)
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for _, text := range []string{":8080", "127.0.0.1:0", "[::1]:443", "db.example:9000"} {
		var got config.Address
		if err := got.UnmarshalText([]byte(text)); err != nil || got.String() != text {
			t.Errorf("%q = %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "8080", "host", "host:", "host:http", "host:65536", "::1:80", "http://x:80", "a b:1"} {
		var got config.Address
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q = %q, want an error", text, got)
		}
	}
}

func TestDSNHidesItsPassword(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[config.DSN]string{
		"":                                   "",
		"http://h:8123/air":                  "http://h:8123/air",
		"clickhouse://u:p4ss@h:9000/?secure": "clickhouse://u:***@h:9000/?secure",
		"http://h/?password=p4ss&user=u":     "http://h/?password=***&user=u",
		"clickhouse://u:p4ss@h:port":         "***",
		"https://u:p4ss@a:8443,b:8443/?x=y":  "https://u:***@a:8443,b:8443/?x=y",
		"http://u:p4ss@a:8123,b:port":        "***",
		"postgres://u@h/d?sslmode=require&sslpassword=p4ss": "postgres://u@h/d?sslmode=require&sslpassword=***",
		"postgres://h/d?Password=&Password=p4ss":            "postgres://h/d?Password=***",
		"postgres://h/d?password=p4ss%zz":                   "***",
		"host=h password=p4ss":                              "***",
		"u:p4ss@h/d":                                        "***",
	} {
		if got := fmt.Sprint(dsn); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
