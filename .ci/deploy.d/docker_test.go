package deploy

import (
	"context"
	"encoding/json"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerui"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
	"github.com/opencontainers/go-digest"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

// platform is a platform of the image.
var platform = ocispecs.Platform{OS: "linux", Architecture: "amd64"}

// bases is a fake registry: every base image is a Linux with a PATH. It records the requested images.
type bases struct{ requested []string }

func (b *bases) ResolveImageConfig(_ context.Context, ref string, _ sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	b.requested = append(b.requested, ref)
	image, err := json.Marshal(ocispecs.Image{Platform: platform, Config: ocispecs.ImageConfig{Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}}})
	return ref, digest.FromBytes(image), image, err
}

// options returns the options of a build.
func options(content []byte, registry *bases, arguments map[string]string) dockerfile2llb.ConvertOpt {
	source := llb.NewSourceMap(nil, "Dockerfile", "Dockerfile", content)
	source.Definition = new(llb.Definition) // the position of the source file, for messages
	return dockerfile2llb.ConvertOpt{
		Config: dockerui.Config{BuildArgs: arguments}, SourceMap: source, TargetPlatform: &platform, MetaResolver: registry,
	}
}

// `docker build --check` has no warning about the Dockerfile, for every stage, and also with the engine.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	content := []byte(text(t, "Dockerfile"))
	for _, engine := range []string{"0", "1"} {
		var registry bases
		found, err := dockerfile2llb.DockerfileLint(t.Context(), content, options(content, &registry, map[string]string{"ENGINE": engine}))
		if err != nil {
			t.Fatal(err)
		}
		if found.Error != nil {
			t.Errorf("building: %s", found.Error.Message)
		}
		for _, w := range found.Warnings {
			t.Errorf("%s: %s", w.RuleName, w.Detail)
		}
		pinned := regexp.MustCompile(`:[0-9]+\.[0-9]+\.[0-9]+(-[a-z-]+)?(@sha256:[0-9a-f]{64})?$`)
		for _, ref := range registry.requested {
			if !pinned.MatchString(ref) {
				t.Errorf("the base image %s has no version", ref)
			}
		}
		if len(registry.requested) == 0 {
			t.Error("no base image was requested")
		}
	}
}

// The image's metadata. Nothing else of it can be checked without a registry.
func TestImage(t *testing.T) {
	t.Parallel()
	content := []byte(text(t, "Dockerfile"))
	built, err := dockerfile2llb.Dockerfile2LLB(t.Context(), content, options(content, new(bases), nil))
	if err != nil {
		t.Fatal(err)
	}
	c := built.Image.Config
	if c.User != "65532:65532" { // Kubernetes cannot check that a user name is not root's
		t.Errorf("user %q", c.User)
	}
	if got, want := slices.Sorted(maps.Keys(c.Volumes)), []string{"/data"}; !slices.Equal(got, want) {
		t.Errorf("volumes %q, want %q", got, want)
	}
	if c.WorkingDir != "/data" {
		t.Errorf("working directory %q, want /data", c.WorkingDir)
	}
	if c.Healthcheck == nil || !slices.Equal(c.Healthcheck.Test, []string{"CMD", "/opt/vayu/vayu", "probe"}) {
		t.Errorf("health check %v", c.Healthcheck)
	}
	environment := variables(t, strings.Join(c.Env, "\n"))
	if got, want := environment["PATH"], "/opt/vayu"; got != want { // otherwise `docker exec … vayu` fails
		t.Errorf("PATH %q, want %q", got, want)
	}
	delete(environment, "PATH")
	accepted(t, environment)
}

// The context contains every file of Git, or the binary's version would be marked as modified. It contains no secret.
func TestDockerContext(t *testing.T) {
	t.Parallel()
	patterns, err := ignorefile.ReadAll(strings.NewReader(text(t, ".dockerignore")))
	if err != nil {
		t.Fatal(err)
	}
	matcher, err := patternmatcher.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	left := func(path string) bool {
		out, err := matcher.MatchesOrParentMatches(path)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	tracked, err := exec.CommandContext(t.Context(), "git", "-C", root(t), "ls-files", "-z").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(tracked), "\x00"), "\x00") {
		if left(path) {
			t.Errorf("%s is in Git and not in the context", path)
		}
	}
	for _, path := range []string{".env", "vayu.yaml", "data/encryption.key", "node_modules/vite/package.json", "bin/vayu"} {
		if !left(path) {
			t.Errorf("%s is in the context", path)
		}
	}
	if left(".git/HEAD") {
		t.Error(".git is not in the context: the binary would not know its commit")
	}
}
