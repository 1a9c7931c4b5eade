-- Items that a stage has dealt with for good at one version; those to be tried again are left out.
SELECT DISTINCT item_id FROM work WHERE stage = $stage AND version = $version AND status <> 'retry'
