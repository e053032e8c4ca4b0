package public

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/history"
	"vayu/query/param"
	"vayu/schema"
	"vayu/schema/advice"
	"vayu/schema/naqi"
)

// page is the reply with the page of a city. Current and Advice are null if the city has no AQI. Hours are null while
// ClickHouse is unavailable.
type page struct {
	Status  string                            `json:"status"`
	City    string                            `json:"city"`
	State   string                            `json:"state"`
	Current json.RawMessage                   `json:"current"`
	Advice  map[advice.Language]advice.Advice `json:"advice"`
	Hours   []hour                            `json:"hours"`
	Links   map[string]string                 `json:"links"`
}

// hour is the AQI of a city in one hour.
type hour struct {
	Hour     time.Time `json:"hour"` // its end
	AQI      int       `json:"aqi"`
	Category string    `json:"category"`
}

// cityOf returns the index of the city that the path of a request names. The error is a *schema.Problem.
func (r *request) cityOf() (int, error) {
	name := mux.Vars(r.Request)["city"]
	if err := param.Text("city", name); err != nil {
		return 0, err
	}
	if err := param.Name("city", name); err != nil {
		return 0, err
	}
	return r.snap.Index.Find(name)
}

// city answers with the page of a city.
func (e *edge) city(r *request) (resp httpapi.Response, at uint32, err error) {
	i, err := r.cityOf()
	if err != nil {
		return resp, 0, err
	}
	languages := advice.Languages[:2] // on each page
	further, err := r.language()
	if err != nil {
		return resp, 0, err
	}
	if !slices.Contains(languages, further) {
		languages = append(slices.Clone(languages), further)
	}
	key := "page " + schema.Join(languages, ", ") + " " + r.snap.Index.Label(i)
	resp, err = e.answers.Get(r.snap, r.now, key, func() (httpapi.Response, error) { return e.page(r, i, languages) })
	return resp, r.snap.Cities[i].At, err
}

// language parses the parameter language. The default is English. Only exact codes are valid, so that a cache has
// only few versions of a reply. The error is a *schema.Problem that names the nearest code.
func (r *request) language() (advice.Language, error) {
	text, given := r.Params["language"]
	if !given {
		return advice.English, nil
	}
	if language := advice.Language(text); language.Known() {
		return language, nil
	}
	nearest := string(advice.Nearest(text))
	return "", param.Invalid("language", "The languages are "+schema.Join(advice.Languages[:], ", ")+". The nearest to yours is "+nearest+".")
}

func (e *edge) page(r *request, i int, languages []advice.Language) (resp httpapi.Response, err error) {
	c := &r.snap.Cities[i]
	label := r.snap.Index.Label(i)
	p := page{Status: schema.Success, City: label, State: c.State, Links: links(label)}
	var cache []string
	if r.snap.Current[i].Body != nil {
		detail, err := r.snap.CityDetail(i, r.now)
		if err != nil {
			return resp, err
		}
		p.Current = detail.Body
		p.Advice = map[advice.Language]advice.Advice{}
		for _, language := range languages {
			p.Advice[language], _ = advice.Of(naqi.Category(int(c.AQI)), language)
		}
	}
	if p.Hours, err = e.hours(r, i, dayHours); err != nil {
		p.Hours, cache = nil, incomplete
	}
	body, err := json.Marshal(p)
	if err != nil {
		return resp, fmt.Errorf("rendering the page of %q: %w", label, err)
	}
	resp = httpapi.Ready(body, time.Time{})
	resp.Cache = cache
	return resp, nil
}

// dayHours is the number of hours in a day, and on the page of a city.
const dayHours = 24

// incomplete is the Cache-Control of a city's page that lacks the hours, because they could not be read.
var incomplete = lasting(time.Minute) //nolint:gochecknoglobals // a constant

// hours returns the last n hours of a city up to its current one, in time order. It omits hours without an AQI.
func (e *edge) hours(r *request, i, n int) ([]hour, error) {
	end := r.snap.Cities[i].At
	all := []hour{}
	if end == 0 {
		return all, nil
	}
	first := end - uint32(n-1)*3600
	span := history.Span{First: schema.DayOf(aggregate.Instant(first)), Last: schema.DayOf(aggregate.Instant(end))}
	q := history.Query{City: i, Span: span, Interval: history.Hours, Account: account}
	ctx := context.WithoutCancel(r.Context()) // other clients may wait for the same reply
	_, found, err := e.History.Figures(ctx, r.snap, &q)
	if err != nil && !errors.Is(err, history.ErrNoRows) {
		return nil, err
	}
	for _, f := range found {
		if f.At >= first && f.At <= end && f.AQI >= 0 {
			all = append(all, hour{aggregate.Instant(f.At), int(f.AQI), naqi.Category(int(f.AQI))})
		}
	}
	return all, nil
}

// links returns the paths of a city's page and of its other forms, such as the badge and the feeds.
func links(label string) map[string]string {
	base := Prefix + "/cities/" + url.PathEscape(label)
	return map[string]string{
		"self": base, "badge": base + "/badge.svg", "chart": base + "/chart.svg", "feed": base + "/feed.atom", "rss": base + "/feed.rss", "alert": base + "/alert.cap",
	}
}
