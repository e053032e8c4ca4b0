// Package compose drives docker-compose.yml in containers; .ci/compose runs it. The module pins Docker Compose.
package compose

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The services of Vayu, in the order of an upgrade (docs/operations/docker.md).
var ours = []string{"ingest", "dispatch-1", "dispatch-2", "api-1", "api-2"}

// order is a recharge of the sandbox with its final state.
type order struct{ ref, mobile, state string }

// client is a client of the deployment, with its keys and its orders.
type client struct {
	sandbox, live string
	orders        []order
}

// TestCompose drives docker-compose.yml from its first start to its removal. The subtests build on each other.
func TestCompose(t *testing.T) {
	dir, err := filepath.Abs(".") // .ci/compose runs the tests in the folder of the project
	if err != nil {
		t.Fatal(err)
	}
	work := os.Getenv("VAYU_TEST_WORK")
	if work == "" {
		t.Fatal("run .ci/compose")
	}
	secrets, err := exec.CommandContext(t.Context(), filepath.Join(dir, "docs/operations/compose/secrets")).Output()
	if err != nil {
		t.Fatal(err)
	}
	d := &deployment{dir: dir, work: work, version: "local", env: append(strings.Fields(string(secrets)), "VAYU_TEST_WORK="+work)}
	hook := outside(t, work)
	fewerConnections(t, filepath.Join(dir, "docs/operations/compose/haproxy.cfg"), filepath.Join(work, "haproxy.cfg"))
	c := new(client)
	for _, step := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"build", func(t *testing.T) { d.compose(t, "build") }},
		{"up", func(t *testing.T) { up(t, d) }},
		{"keys", func(t *testing.T) { c.findKeys(t, d) }},
		{"air", func(t *testing.T) { c.air(t) }},
		{"recharges and webhooks", func(t *testing.T) { c.subscribe(t, hook); c.recharge(t, hook, 20) }},
		{"isolation", func(t *testing.T) { isolation(t, d) }},
		{"upgrade under load", func(t *testing.T) { c.upgrade(t, d); c.recharge(t, hook, 4) }},
		{"killed instances", func(t *testing.T) { c.killed(t, d, hook, ours...) }},
		{"killed stores", func(t *testing.T) { c.killed(t, d, hook, "postgres", "kafka", "clickhouse") }},
		{"cut networks", func(t *testing.T) { c.cut(t, d, hook) }},
		{"backup", func(t *testing.T) { backup(t, d) }},
		{"down and up", func(t *testing.T) { d.compose(t, "down"); up(t, d); c.air(t); c.check(t, hook); c.recharge(t, hook, 4) }},
	} {
		if !t.Run(step.name, step.run) { // the next ones build on it
			out, _ := d.try(t.Context(), d.files("ps", "--all")...)
			logs, _ := d.try(t.Context(), d.files("logs", "--no-color", "--tail", "40")...)
			t.Fatalf("containers:\n%s\nlogs:\n%s", out, logs)
		}
	}
	d.compose(t, "down", "--volumes")
	if left := d.docker(t, "ps", "--all", "--quiet"); left != "" {
		t.Errorf("containers are left: %s", left)
	}
}

// fewerConnections copies the settings of the proxy with a tenth of its connections, for a machine that does not allow
// as many open files.
func fewerConnections(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	fewer := strings.Replace(string(text), "maxconn 20000", "maxconn 2000", 1)
	if fewer == string(text) {
		t.Fatalf("%s has no maxconn 20000", from)
	}
	if err := os.WriteFile(to, []byte(fewer), 0o644); err != nil { //nolint:gosec // the proxy reads it as another user
		t.Fatal(err)
	}
}

// up starts everything. The command waits until all containers are healthy.
func up(t *testing.T, d *deployment) {
	t.Helper()
	d.compose(t, "up", "--detach", "--wait", "--pull", "never")
	if out := d.compose(t, "ps", "--format", "{{.Service}} {{.Health}}"); strings.Contains(out, "unhealthy") {
		t.Errorf("after the start:\n%s", out)
	}
}

// findKeys reads the first keys in the logs, as docs/operations/docker.md says.
func (c *client) findKeys(t *testing.T, d *deployment) {
	t.Helper()
	found := regexp.MustCompile(`(sandbox|live) +(sk_[a-z]+_\w+)`).FindAllStringSubmatch(d.compose(t, "logs", "--no-color", "api-1", "api-2"), -1)
	if len(found) != 2 {
		t.Fatalf("%d keys in the logs, want 2", len(found))
	}
	c.sandbox, c.live = found[0][2], found[1][2]
	d.compose(t, "exec", "-T", "ingest", "vayu", "account", "set", "default", "--plan", "unlimited") // for the calls of load
}

// air checks that the measured air of the feed is served.
func (c *client) air(t *testing.T) {
	t.Helper()
	eventually(t, "the air of Delhi is that of the feed", func() (string, bool) {
		status, body, err := call(t.Context(), http.MethodGet, "/v1/aqi?city=Delhi", c.live, "")
		var record struct{ AQI int }
		_ = json.Unmarshal(body, &record)
		return fmt.Sprintf("%d %v %s", status, err, body), status == http.StatusOK && record.AQI == 112
	})
}

func (c *client) subscribe(t *testing.T, hook *receiver) {
	t.Helper()
	var made struct{ Secret string }
	post(t, "/v1/webhooks", c.sandbox, `{"url":"https://receiver.test:9443/","events":["recharge.completed","recharge.failed"]}`, &made)
	hook.mu.Lock()
	hook.secret = made.Secret
	hook.mu.Unlock()
	var topUp struct{ Status string }
	post(t, "/v1/wallet/topups", c.sandbox, `{"amount":10000,"method":"upi","ref_id":"first"}`, &topUp)
}

// recharge orders n recharges with known outcomes. An order without a reply is repeated, as clients should do. Then it
// checks all orders.
func (c *client) recharge(t *testing.T, hook *receiver, n int) {
	t.Helper()
	for range n {
		o := order{ref: fmt.Sprintf("order-%d", len(c.orders)), mobile: "9000000001", state: "success"}
		if len(c.orders)%2 == 1 {
			o.mobile, o.state = "9000000003", "failed" // after it was pending
		}
		body := fmt.Sprintf(`{"mobile":%q,"operator":"auto","amount":10,"type":"prepaid","ref_id":%q}`, o.mobile, o.ref)
		eventually(t, o.ref+" is accepted", func() (string, bool) {
			status, reply, err := call(t.Context(), http.MethodPost, "/v1/recharge", c.sandbox, body)
			return fmt.Sprintf("%d %v %s", status, err, reply), err == nil && status < 300
		})
		c.orders = append(c.orders, o)
	}
	c.check(t, hook)
}

// check checks that each order is in its final state, that each has its event at the receiver, and that no signature
// was wrong.
func (c *client) check(t *testing.T, hook *receiver) {
	t.Helper()
	want := map[string]int{}
	for _, o := range c.orders {
		want[o.state]++
		eventually(t, o.ref+" is "+o.state, func() (string, bool) {
			status, body, err := call(t.Context(), http.MethodGet, "/v1/recharge?ref_id="+o.ref, c.sandbox, "")
			return fmt.Sprintf("%d %v %s", status, err, body), strings.Contains(string(body), `"status":"`+o.state+`"`)
		})
	}
	eventually(t, fmt.Sprint("events are received: ", want), func() (string, bool) {
		completed, failed := hook.count("recharge.completed"), hook.count("recharge.failed")
		return fmt.Sprint(completed, failed), completed == want["success"] && failed == want["failed"]
	})
	hook.mu.Lock()
	defer hook.mu.Unlock()
	if len(hook.bad) > 0 {
		t.Errorf("the receiver refused deliveries: %v", hook.bad)
	}
}

// isolation checks that the stores do not reach the network outside, and that only the proxy is published. The machine
// itself cannot be the target: before version 28, Docker let containers of internal networks reach it.
func isolation(t *testing.T, d *deployment) {
	t.Helper()
	reaches := func(service, address, port string) bool {
		_, err := d.try(t.Context(), d.files("exec", "-T", service, "timeout", "3", "bash", "-c", "exec 3<>/dev/tcp/"+address+"/"+port)...)
		return err == nil
	}
	address := strings.TrimSpace(d.docker(t, "inspect", "--format", "{{.NetworkSettings.Networks.vayu_outside.IPAddress}}", d.container(t, "api-1")))
	for _, service := range []string{"postgres", "kafka", "clickhouse"} {
		if reaches(service, address, "8080") {
			t.Errorf("%s reaches %s of the network outside", service, address)
		}
	}
	if reaches("proxy", "postgres", "5432") {
		t.Error("the proxy reaches PostgreSQL")
	}
	if !reaches("proxy", "api-1", "8080") {
		t.Error("the proxy does not reach api-1")
	}
	published := strings.Fields(d.docker(t, "ps", "--format", "{{.Ports}}"))
	published = slices.DeleteFunc(published, func(p string) bool { return !strings.Contains(p, "->") })
	if want := []string{"127.0.0.1:8080->8080/tcp"}; !slices.Equal(published, want) {
		t.Errorf("published: %v, want %v", published, want)
	}
	for _, path := range []string{"/metrics", "/readyz"} {
		if status, _, err := call(t.Context(), http.MethodGet, path, "", ""); err != nil || status != http.StatusNotFound {
			t.Errorf("GET %s: %d %v, want 404", path, status, err)
		}
	}
}

// upgrade replaces the instances by those of another image, one after the other, as docs/operations/docker.md says.
func (c *client) upgrade(t *testing.T, d *deployment) {
	t.Helper()
	d.docker(t, "tag", "vayu:local", "vayu:next")
	d.version = "next"
	stop := load(t, c.live)
	for _, service := range ours {
		d.compose(t, "up", "--detach", "--no-deps", "--wait", service)
		eventually(t, service+" is ready", func() (string, bool) {
			out, err := d.try(t.Context(), d.files("exec", "-T", service, "vayu", "probe", "--ready")...)
			return out, err == nil
		})
		if image := strings.TrimSpace(d.docker(t, "inspect", "--format", "{{.Config.Image}}", d.container(t, service))); image != "vayu:next" {
			t.Errorf("%s runs %s", service, image)
		}
	}
	stop(t)
}

// killed kills each service with SIGKILL, and orders recharges while Docker starts it again. Nothing is lost.
func (c *client) killed(t *testing.T, d *deployment, hook *receiver, services ...string) {
	t.Helper()
	for _, service := range services {
		stop := load(t, c.live)
		d.kill(t, service)
		c.recharge(t, hook, 4)
		d.healthy(t, service, 1)
		stop(t) // current air is served from memory, also while a store is away
	}
}

// cut takes containers off a network, one after the other. The other instance does the work meanwhile.
func (c *client) cut(t *testing.T, d *deployment, hook *receiver) {
	t.Helper()
	for _, service := range []string{"dispatch-1", "api-1", "dispatch-2"} {
		id := d.container(t, service)
		d.docker(t, "network", "disconnect", "vayu_stores", id)
		c.recharge(t, hook, 4)
		d.docker(t, "network", "connect", "--alias", service, "vayu_stores", id)
	}
	c.recharge(t, hook, 4)
	for _, service := range ours {
		eventually(t, service+" is ready", func() (string, bool) {
			out, err := d.try(t.Context(), d.files("exec", "-T", service, "vayu", "probe", "--ready")...)
			return out, err == nil
		})
	}
}

// backup runs the commands of docs/operations/docker.md.
func backup(t *testing.T, d *deployment) {
	t.Helper()
	d.compose(t, "exec", "-T", "ingest", "vayu", "backup", "/data/backup")
	d.compose(t, "cp", "ingest:/data/backup", filepath.Join(d.work, "backup"))
	if files, err := os.ReadDir(filepath.Join(d.work, "backup")); err != nil || len(files) == 0 {
		t.Errorf("the backup has %d files: %v", len(files), err)
	}
	t.Log(d.compose(t, "exec", "-T", "ingest", "vayu", "ledger", "verify")) // fails if postings do not balance
}
