<?php
$options = require __DIR__ . '/options.php';
$config = ['people' => ['exampleauth:UserPass']];
foreach ($options['people'] as $name => $attributes) {
    $config['people'][$name . ':' . $options['password']] = $attributes;
}
