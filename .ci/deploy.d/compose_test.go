package deploy

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"go.yaml.in/yaml/v3"
)

// secrets returns the variables that the script for .env prints.
func secrets(tb testing.TB) map[string]string {
	tb.Helper()
	return variables(tb, run(tb, filepath.Join(root(tb), operations, "compose/secrets")))
}

// compose loads docker-compose.yml as `docker compose config` does: schema, interpolation, anchors, merges, and
// references.
func compose(tb testing.TB, environment map[string]string) (*types.Project, error) {
	tb.Helper()
	var pairs []string
	for name, value := range environment {
		pairs = append(pairs, name+"="+value)
	}
	dir := root(tb)
	options, err := cli.NewProjectOptions([]string{filepath.Join(dir, "docker-compose.yml")},
		cli.WithWorkingDirectory(dir), cli.WithEnv(pairs), cli.WithConsistency(true), cli.WithResolvedPaths(true))
	if err != nil {
		tb.Fatal(err)
	}
	return options.LoadProject(context.WithoutCancel(tb.Context()))
}

func project(tb testing.TB) *types.Project {
	tb.Helper()
	p, err := compose(tb, secrets(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// vayus returns the services with Vayu's image.
func vayus(p *types.Project) map[string]types.ServiceConfig {
	ours := map[string]types.ServiceConfig{}
	for name, s := range p.Services {
		if strings.HasPrefix(s.Image, "vayu:") {
			ours[name] = s
		}
	}
	return ours
}

func TestComposeIsValid(t *testing.T) {
	t.Parallel()
	p := project(t)
	want := []string{"api-1", "api-2", "clickhouse", "dispatch-1", "dispatch-2", "grafana", "ingest", "kafka", "postgres", "prometheus", "proxy"}
	if got := p.ServiceNames(); !slices.Equal(got, want) {
		t.Errorf("services %v, want %v", got, want)
	}
	if err := exec.CommandContext(t.Context(), "docker", "compose", "version").Run(); err != nil {
		return // without docker; compose has loaded the file above
	}
	cmd := exec.CommandContext(t.Context(), "docker", "compose", "--file", filepath.Join(root(t), "docker-compose.yml"), "config", "--quiet")
	cmd.Env = os.Environ()
	for name, value := range secrets(t) {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("docker compose config: %v\n%s", err, out)
	}
}

// A missing secret prevents the start and names the documentation page. No secret has a default.
func TestComposeNeedsSecrets(t *testing.T) {
	t.Parallel()
	for name := range secrets(t) {
		given := secrets(t)
		delete(given, name)
		if _, err := compose(t, given); err == nil || !strings.Contains(err.Error(), "docs/operations/docker.md") {
			t.Errorf("without %s: error %v, want one that names docker.md", name, err)
		}
	}
	example := variables(t, text(t, ".env.example"))
	for name, value := range example {
		if _, ok := secrets(t)[name]; !ok {
			t.Errorf(".env.example has %s, which is not the name of a secret", name)
		}
		if value != "" {
			t.Errorf(".env.example has %s=%s, want no value", name, value)
		}
	}
	if len(example) != len(secrets(t)) {
		t.Errorf(".env.example has %d secrets, the script makes %d", len(example), len(secrets(t)))
	}
}

// Every service has minimal permissions, and restarts after a failure.
func TestComposeIsHardened(t *testing.T) {
	t.Parallel()
	pinned := regexp.MustCompile(`^[a-z/-]+:v?[0-9]+\.[0-9]+(\.[0-9]+)*(@sha256:[0-9a-f]{64})?$`)
	for name, s := range project(t).Services {
		if !s.ReadOnly {
			t.Errorf("%s may write its own files", name)
		}
		if want := []string{"ALL"}; !slices.Equal(s.CapDrop, want) || len(s.CapAdd) > 0 {
			t.Errorf("%s drops the capabilities %q and adds %q, want to drop %q and to add none", name, s.CapDrop, s.CapAdd, want)
		}
		if want := "no-new-privileges:true"; !slices.Contains(s.SecurityOpt, want) || s.Privileged {
			t.Errorf("%s is privileged: %v, with the security options %q; want false with %q", name, s.Privileged, s.SecurityOpt, want)
		}
		if s.MemLimit == 0 || s.PidsLimit == 0 {
			t.Errorf("%s has a limit of %d bytes of memory and %d processes, want a limit of both", name, s.MemLimit, s.PidsLimit)
		}
		if s.Restart != types.RestartPolicyUnlessStopped {
			t.Errorf("%s is not started again", name)
		}
		if s.Build == nil && !pinned.MatchString(s.Image) {
			t.Errorf("%s: image %q has no version", name, s.Image)
		}
		for _, v := range s.Volumes {
			if v.Type == types.VolumeTypeBind {
				if !v.ReadOnly {
					t.Errorf("%s may write %s", name, v.Source)
				}
				if _, err := os.Stat(v.Source); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// Stores are unreachable from outside, and so are services that trust X-Forwarded-For.
func TestComposeNetworks(t *testing.T) {
	t.Parallel()
	p := project(t)
	for name, s := range p.Services {
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" || name != "proxy" && name != "grafana" {
				t.Errorf("%s is published on %q", name, port.HostIP)
			}
		}
		for network := range s.Networks {
			store := name == "clickhouse" || name == "kafka" || name == "postgres"
			if store && !p.Networks[network].Internal {
				t.Errorf("%s is on the network %s, which leads outside", name, network)
			}
			if network == "edge" && name != "proxy" && !strings.HasPrefix(name, "api-") {
				t.Errorf("%s is on the network whose addresses are believed in X-Forwarded-For", name)
			}
		}
	}
	subnet := p.Networks["edge"].Ipam.Config[0].Subnet
	for name, s := range vayus(p) {
		if got := *s.Environment["VAYU_PROXIES"]; got != subnet {
			t.Errorf("%s trusts %s, and the proxy is in %s", name, got, subnet)
		}
	}
}

// The binary accepts every setting, each volume has one owner, and all roles exist.
func TestComposeSettings(t *testing.T) {
	t.Parallel()
	owners := map[string]string{}
	var taken []string
	for name, s := range vayus(project(t)) {
		environment := map[string]string{}
		for variable, value := range s.Environment {
			environment[variable] = *value
		}
		accepted(t, environment)
		taken = append(taken, strings.Split(environment["VAYU_ROLES"], ",")...)
		for _, v := range s.Volumes {
			if other, ok := owners[v.Source]; ok {
				t.Errorf("%s and %s have one data directory", name, other)
			}
			owners[v.Source] = name
		}
	}
	slices.Sort(taken)
	if got, want := strings.Join(taken, " "), "api api dispatch dispatch ingest pipeline"; got != want {
		t.Errorf("roles %s, want %s", got, want)
	}
}

// Prometheus scrapes every instance, and the proxy balances those with the role api.
func TestComposeTargets(t *testing.T) {
	t.Parallel()
	var prometheus struct {
		RuleFiles []string `yaml:"rule_files"`
		Scrape    []struct {
			Job    string `yaml:"job_name"`
			Static []struct {
				Targets []string          `yaml:"targets"`
				Labels  map[string]string `yaml:"labels"`
			} `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
		Global map[string]string `yaml:"global"`
	}
	decoder := yaml.NewDecoder(strings.NewReader(text(t, operations, "compose/prometheus.yml")))
	decoder.KnownFields(true)
	if err := decoder.Decode(&prometheus); err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, job := range prometheus.Scrape {
		for _, s := range job.Static {
			targets = append(targets, s.Targets...)
		}
	}
	proxy := text(t, operations, "compose/haproxy.cfg")
	for name, s := range vayus(project(t)) {
		if !slices.Contains(targets, name+":9080") {
			t.Errorf("Prometheus does not ask %s", name)
		}
		server := "server " + name + " " + name + ":8080\n"
		if got, want := strings.Contains(proxy, server), *s.Environment["VAYU_ROLES"] == "api"; got != want {
			t.Errorf("%s is behind the proxy: %v, want %v", name, got, want)
		}
	}
}

// Grafana gets every dashboard of the operations guide, and a data source of the type that each one needs.
func TestComposeDashboards(t *testing.T) {
	t.Parallel()
	var provisioned struct {
		Datasources []struct {
			Type string `yaml:"type"`
		} `yaml:"datasources"`
	}
	if err := yaml.Unmarshal([]byte(text(t, operations, "compose/grafana-source.yml")), &provisioned); err != nil {
		t.Fatal(err)
	}
	types := map[string]bool{}
	for _, source := range provisioned.Datasources {
		types[source.Type] = true
	}
	mounted := map[string]bool{}
	for _, v := range project(t).Services["grafana"].Volumes {
		mounted[filepath.Base(v.Target)] = true
	}
	boards, err := filepath.Glob(filepath.Join(root(t), operations, "grafana*.json"))
	if err != nil || len(boards) < 2 {
		t.Fatalf("dashboards %v, error %v, want at least 2", boards, err)
	}
	for _, file := range boards {
		name := filepath.Base(file)
		if !mounted[name] {
			t.Errorf("%s is not mounted into Grafana", name)
		}
		var board struct {
			Templating struct {
				List []struct{ Type, Query any }
			}
		}
		if err := json.Unmarshal([]byte(text(t, operations, name)), &board); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, variable := range board.Templating.List {
			if needed, _ := variable.Query.(string); variable.Type == "datasource" && !types[needed] {
				t.Errorf("%s needs a data source of the type %q, which is not provisioned", name, needed)
			}
		}
	}
}

// HAProxy itself checks its configuration. The names of the instances resolve only inside the network.
func TestComposeProxy(t *testing.T) {
	t.Parallel()
	run(t, "haproxy", "-c", "-f", filepath.Join(root(t), operations, "compose/haproxy.cfg"))
}
