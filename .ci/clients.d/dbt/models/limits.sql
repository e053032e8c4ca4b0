{{ config(materialized='table', order_by='parameter') }}
SELECT parameter, count() AS limits FROM {{ source('air', 'standard') }} GROUP BY parameter
