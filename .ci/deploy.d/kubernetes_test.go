package deploy

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	security "k8s.io/pod-security-admission/api"
	standards "k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// cluster contains the objects that `kubectl apply -k` would send, by kind and name.
type cluster struct {
	Deployments map[string]*apps.Deployment
	Budgets     map[string]*policy.PodDisruptionBudget
	Policies    map[string]*networking.NetworkPolicy
	Services    map[string]*core.Service
	Settings    map[string]*core.ConfigMap
}

// into decodes an object into the type of its kind. An unknown field is an error, as on the API server.
func into[T any](tb testing.TB, all *map[string]*T, name string, text []byte) {
	tb.Helper()
	object := new(T)
	if err := yaml.UnmarshalStrict(text, object); err != nil {
		tb.Errorf("%s: %v", name, err)
	}
	if *all == nil {
		*all = map[string]*T{}
	}
	(*all)[name] = object
}

// kubernetes runs kustomize.
func kubernetes(tb testing.TB) cluster {
	tb.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(root(tb), operations, "kubernetes"))
	if err != nil {
		tb.Fatal(err)
	}
	var c cluster
	for _, r := range resources.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			tb.Fatal(err)
		}
		switch id := r.GetApiVersion() + " " + r.GetKind(); id {
		case "apps/v1 Deployment":
			into(tb, &c.Deployments, r.GetName(), text)
		case "policy/v1 PodDisruptionBudget":
			into(tb, &c.Budgets, r.GetName(), text)
		case "networking.k8s.io/v1 NetworkPolicy":
			into(tb, &c.Policies, r.GetName(), text)
		case "v1 Service":
			into(tb, &c.Services, r.GetName(), text)
		case "v1 ConfigMap":
			into(tb, &c.Settings, r.GetName(), text)
		case "v1 Namespace":
			into(tb, new(map[string]*core.Namespace), r.GetName(), text)
		default:
			tb.Errorf("%s %s: no type to read it with", id, r.GetName())
		}
	}
	if got, want := slices.Sorted(maps.Keys(c.Deployments)), []string{"api", "dispatch", "ingest", "pipeline"}; !slices.Equal(got, want) {
		tb.Fatalf("deployments %v, want %v", got, want)
	}
	return c
}

// Pods meet the strictest pod security standard, and can write only to their volumes.
func TestKubernetesPodsAreRestricted(t *testing.T) {
	t.Parallel()
	evaluator, err := standards.NewEvaluator(standards.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := security.LevelVersion{Level: security.LevelRestricted, Version: security.LatestVersion()}
	for name, d := range kubernetes(t).Deployments {
		pod := &d.Spec.Template
		if result := standards.AggregateCheckResults(evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec)); !result.Allowed {
			t.Errorf("%s: %s: %s", name, result.ForbiddenReason(), result.ForbiddenDetail())
		}
		for _, c := range pod.Spec.Containers {
			if only := c.SecurityContext.ReadOnlyRootFilesystem; only == nil {
				t.Errorf("%s/%s may write its own files: readOnlyRootFilesystem is missing", name, c.Name)
			} else if !*only {
				t.Errorf("%s/%s may write its own files: readOnlyRootFilesystem is false", name, c.Name)
			}
			if memory, cpu := c.Resources.Limits.Memory(), c.Resources.Requests.Cpu(); memory.IsZero() || cpu.IsZero() {
				t.Errorf("%s/%s has a limit of %v memory, and requests %v CPUs; want both", name, c.Name, memory, cpu)
			}
			if _, tag, _ := strings.Cut(filepath.Base(c.Image), ":"); tag == "" || tag == "latest" {
				t.Errorf("%s/%s: image %s has the tag %q, want a version", name, c.Name, c.Image, tag)
			}
		}
		if links := pod.Spec.EnableServiceLinks; links == nil {
			t.Errorf("%s: enableServiceLinks is missing, so variables of Services would be taken for settings", name)
		} else if *links {
			t.Errorf("%s: enableServiceLinks is true, so variables of Services would be taken for settings", name)
		}
	}
}

// Selectors match the intended pods and no others. Probes and Service ports refer to existing ports.
func TestKubernetesBelongsTogether(t *testing.T) {
	t.Parallel()
	c := kubernetes(t)
	pods := func(s labels.Selector) (names []string) {
		for name, d := range c.Deployments {
			if s.Matches(labels.Set(d.Spec.Template.Labels)) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	selected := func(s *metav1.LabelSelector) []string {
		read, err := metav1.LabelSelectorAsSelector(s)
		if err != nil {
			t.Error(err)
			return nil
		}
		return pods(read)
	}
	for name, d := range c.Deployments {
		want := []string{name}
		if got := selected(d.Spec.Selector); !slices.Equal(got, want) {
			t.Errorf("Deployment %s selects the pods of %v", name, got)
		}
		budget := c.Budgets[name]
		if budget == nil {
			t.Errorf("%s has no PodDisruptionBudget", name)
			continue
		}
		if got := selected(budget.Spec.Selector); !slices.Equal(got, want) || budget.Spec.MaxUnavailable.IntValue() >= int(*d.Spec.Replicas) {
			t.Errorf("PodDisruptionBudget %s is about %v, and lets %s of %d go", name, got, budget.Spec.MaxUnavailable, *d.Spec.Replicas)
		}
		vayu := d.Spec.Template.Spec.Containers[0]
		for probe, path := range map[*core.Probe]string{vayu.StartupProbe: "/healthz", vayu.LivenessProbe: "/healthz", vayu.ReadinessProbe: "/readyz"} {
			if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != path || probe.HTTPGet.Port.StrVal != vayu.Ports[0].Name {
				t.Errorf("%s: probe %v, want one of %s at the port %s", name, probe, path, vayu.Ports[0].Name)
			}
		}
	}
	for name, s := range c.Services {
		if got := pods(labels.SelectorFromSet(s.Spec.Selector)); !slices.Equal(got, []string{name}) {
			t.Errorf("Service %s selects %v", name, got)
		}
	}
	if got := selected(&c.Policies["api"].Spec.PodSelector); !slices.Equal(got, []string{"api"}) {
		t.Errorf("NetworkPolicy api is about %v", got)
	}
	if got := selected(&c.Policies["vayu"].Spec.PodSelector); len(got) != len(c.Deployments) {
		t.Errorf("NetworkPolicy vayu is about %v", got)
	}
}

// fake values of the Secret, by key
var secret = map[string]string{
	"clickhouse":     "clickhouse://vayu:secret@clickhouse:9000/",
	"state":          "postgres://vayu:secret@postgres:5432/vayu",
	"encryption-key": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
}

// The binary accepts the environment of each pod.
func TestKubernetesSettings(t *testing.T) {
	t.Parallel()
	c := kubernetes(t)
	for name, d := range c.Deployments {
		environment := map[string]string{}
		vayu := d.Spec.Template.Spec.Containers[0]
		for _, from := range vayu.EnvFrom {
			settings := c.Settings[from.ConfigMapRef.Name]
			if settings == nil {
				t.Fatalf("%s: there is no ConfigMap %s", name, from.ConfigMapRef.Name)
			}
			maps.Copy(environment, settings.Data)
		}
		for _, e := range vayu.Env {
			environment[e.Name] = e.Value
			if e.ValueFrom == nil {
				continue
			}
			key := e.ValueFrom.SecretKeyRef.Key
			if environment[e.Name] = secret[key]; secret[key] == "" {
				t.Errorf("%s: %s is from the key %q of the Secret, which the page does not name", name, e.Name, key)
			}
		}
		if environment["VAYU_ROLES"] != name {
			t.Errorf("%s has the roles %s", name, environment["VAYU_ROLES"])
		}
		accepted(t, environment)
	}
	page := text(t, operations, "kubernetes.md")
	for key := range secret {
		if !strings.Contains(page, "--from-literal="+key+"=") {
			t.Errorf("kubernetes.md does not say how the key %s of the Secret is made", key)
		}
	}
}
