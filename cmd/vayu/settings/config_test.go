package settings

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/config"
)

const example = "../../../vayu.example.yaml"

// The sample file parses, has the defaults, and mentions every setting.
func TestExampleHasTheDefaults(t *testing.T) {
	t.Parallel()
	loaded, err := config.Load(Defaults(), config.Sources{File: example})
	if err != nil {
		t.Fatal(err)
	}
	show := func(l config.Loaded[Config]) string {
		var out bytes.Buffer
		if err := l.Print(&out); err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(` # .*`).ReplaceAllString(out.String(), "")
	}
	bare, err := config.Load(Defaults(), config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(show(bare), show(loaded)); diff != "" {
		t.Errorf("defaults and vayu.example.yaml (-defaults +example):\n%s", diff)
	}
	text, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(show(bare)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		if !strings.HasPrefix(name, "- ") && !regexp.MustCompile(`(?m)^\s*`+name+`:`).Match(text) {
			t.Errorf("vayu.example.yaml does not mention %q", name)
		}
	}
}

func TestAllConfigErrorsAreReported(t *testing.T) {
	t.Parallel()
	_, err := config.Load(Defaults(), config.Sources{Environ: []string{
		"VAYU_LISTEN=nowhere", "VAYU_SOURCES=cpcb,simulator,nasa", "VAYU_ENGINE_PORT=70000", "VAYU_LOG_LEVEL=loud", "VAYU_CLUSTER=c",
		"VAYU_PUBLIC_URL=https://api.example.com/", "VAYU_VERIFY_GIVE_UP=1s", "VAYU_VERIFY_CACHE=25h", "VAYU_VERIFY_KEEP=1m", "VAYU_VERIFY_MISSES=-1",
		"VAYU_VERIFY_BATCH_ROOM=0",
	}})
	if err == nil {
		t.Fatal("eleven errors were accepted")
	}
	for _, want := range []string{"listen: ", "sources: ", "simulator", "nasa", "engine.port: ", "log.level: ", "cluster: ", "VAYU_LOG_LEVEL",
		"public-url: ", "verify.give-up: ", "verify.cache: ", "verify.keep: ", "verify.misses: ", "verify.batch-room: ",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %q:\n%v", want, err)
		}
	}
}

func TestOriginsOfPagesAreChecked(t *testing.T) {
	t.Parallel()
	for want, origins := range map[string]map[string][]string{
		"":                                {"acc_1": {"https://app.example.com", "http://localhost:5173"}},
		"is not the id of an account":     {"default": {"https://app.example.com"}},
		`"*" must be an origin`:           {"acc_1": {"https://app.example.com", "*"}},
		`"https://app.example.com/" must`: {"acc_1": {"https://app.example.com/"}},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			c := Defaults()
			c.Origins = origins
			err := errors.Join(c.Validate()...)
			if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "origins")) {
				t.Errorf("got error %v, want one about origins with %q", err, want)
			}
		})
	}
}

func TestInvalidRolesAreRejected(t *testing.T) {
	t.Parallel()
	for environ, wants := range map[string][]string{
		"VAYU_ROLES=api,cook":             {"roles: ", "cook"},
		"VAYU_ROLES=api":                  {"roles: ", "set state", "set clickhouse"},
		"VAYU_ROLES=pipeline,dispatch":    {"roles: ", "public-url: "},
		"VAYU_DRAIN_DELAY=-1s":            {"drain-delay: "},
		"VAYU_ROLES=api,ingest,api,cook,": {"roles: "},
	} {
		_, err := config.Load(Defaults(), config.Sources{Environ: []string{environ}})
		if err == nil {
			t.Errorf("%s was accepted", environ)
			continue
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error does not have %q:\n%v", environ, want, err)
			}
		}
	}
	idle := Defaults()
	idle.Roles = nil
	if err := errors.Join(idle.Validate()...); err == nil || !strings.Contains(err.Error(), "nothing to do") {
		t.Errorf("without a role: %v", err)
	}
	for _, environ := range [][]string{
		{"VAYU_ROLES=dispatch,ingest,pipeline,api"},
		{"VAYU_ROLES=dispatch", "VAYU_STATE=postgres://db/vayu", "VAYU_CLICKHOUSE=clickhouse://ch:9000/"},
		{"VAYU_ROLES=pipeline", "VAYU_STATE=postgres://db/vayu", "VAYU_PUBLIC_URL=https://api.example.com"},
	} {
		if _, err := config.Load(Defaults(), config.Sources{Environ: environ}); err != nil {
			t.Errorf("%q is rejected: %v", environ, err)
		}
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	cfg := Defaults()
	cfg.Encryption = config.NewSecret("hush")
	cfg.State = config.DSN("postgres://vayu:hush@db/vayu")
	cfg.ClickHouse = config.DSN("clickhouse://vayu:hush@db:9000/")
	loaded, err := config.Load(cfg, config.Sources{Environ: []string{"VAYU_SOURCE_DATAGOV_KEY=hush"}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := loaded.Print(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "hush") {
		t.Errorf("a secret was printed:\n%s", out.String())
	}
}
