package air

import "vayu/schema"

// Scale is the air quality index of a record on the scale that the request names. Index, Category and Dominant are null
// if data are missing, and Reason then says which data. Color is null if the scale defines no colours. Name, Method and
// Source are absent in a reply that states them once, in a [RangeScale].
type Scale struct {
	ID         string               `json:"id"`
	Name       string               `json:"name,omitempty"`
	Index      schema.Figure        `json:"index"`
	Category   *string              `json:"category"`
	Color      *string              `json:"color"`
	Dominant   *string              `json:"dominant"`
	Pollutants map[string]ScalePart `json:"pollutants"`
	Reason     string               `json:"reason,omitempty"`
	Method     string               `json:"method,omitempty"`
	Source     string               `json:"source,omitempty"`
}

// ScalePart is the index of one pollutant on a scale. Value is the concentration from which the index is computed, in
// Unit. Averaging is the interval of Value: 1h, 8h, 24h, nowcast, max1h or max8h.
type ScalePart struct {
	Index     schema.Figure `json:"index"`
	Category  string        `json:"category"`
	Value     schema.Figure `json:"value"`
	Unit      string        `json:"unit"`
	Averaging string        `json:"averaging"`
}

// RangeScale describes the one scale of all records in a reply with many records, such as those of a range of days.
type RangeScale struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Method string `json:"method"`
	Source string `json:"source"`
}
