<?php
$options = require __DIR__ . '/options.php';
foreach ($options['sp_addresses'] as $address) {
    $metadata[$address . 'metadata/'] = $options['sp'] + [
        'AssertionConsumerService' => $address . 'acs/',
        'SingleLogoutService' => $address . 'logout/',
    ];
}
